// True if the window is as narrow as a phone's, for drawings that lie next to or below their legend.
import { useEffect, useState } from 'preact/hooks';

const query = () => matchMedia('(max-width: 620px)');

export function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => query().matches);
  useEffect(() => {
    const media = query();
    const update = () => setNarrow(media.matches);
    update();
    media.addEventListener('change', update);
    return () => media.removeEventListener('change', update);
  }, []);
  return narrow;
}

// One hint for the whole page: shows the data-hint of the element that is pointed at or focused.
import { useEffect, useRef, useState } from 'preact/hooks';

interface Place {
  text: string;
  left: number;
  top: number;
  below: boolean;
}

const WIDTH = 320;

function placeFor(target: HTMLElement): Place | null {
  const text = target.dataset['hint'];
  if (!text) return null;
  const box = target.getBoundingClientRect();
  const half = Math.min(WIDTH, innerWidth - 16) / 2;
  const middle = box.left + box.width / 2;
  const below = box.top < 120;
  const left = Math.max(8 + half, Math.min(innerWidth - 8 - half, middle));
  return { text, left, top: below ? box.bottom + 6 : box.top - 6, below };
}

export function HintLayer() {
  const [place, setPlace] = useState<Place | null>(null);
  const described = useRef<HTMLElement | null>(null);

  useEffect(() => {
    const hide = () => {
      described.current?.removeAttribute('aria-describedby');
      described.current = null;
      setPlace(null);
    };
    const show = (event: Event) => {
      const target = event.target instanceof Element ? event.target.closest<HTMLElement>('[data-hint]') : null;
      if (target === described.current) return;
      hide();
      if (!target) return;
      described.current = target;
      target.setAttribute('aria-describedby', 'hint');
      setPlace(placeFor(target));
    };
    const key = (event: KeyboardEvent) => event.key === 'Escape' && hide();
    addEventListener('mouseover', show);
    addEventListener('focusin', show);
    addEventListener('focusout', hide);
    addEventListener('keydown', key);
    addEventListener('scroll', hide, true);
    return () => {
      removeEventListener('mouseover', show);
      removeEventListener('focusin', show);
      removeEventListener('focusout', hide);
      removeEventListener('keydown', key);
      removeEventListener('scroll', hide, true);
    };
  }, []);

  if (!place) return <div id="hint" role="tooltip" hidden />;
  return (
    <div id="hint" role="tooltip" class={place.below ? 'hint below' : 'hint'} style={{ left: `${place.left}px`, top: `${place.top}px` }}>
      {place.text}
    </div>
  );
}

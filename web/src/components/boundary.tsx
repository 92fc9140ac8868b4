// Keeps what breaks in one page from taking the others along.
import { Component, type ComponentChildren } from 'preact';
import { clip } from '../text';
import { Empty } from './note';

interface State {
  error: string | null;
}

export class Boundary extends Component<{ children: ComponentChildren }, State> {
  override state: State = { error: null };

  static override getDerivedStateFromError(error: unknown): State {
    return { error: error instanceof Error ? error.message : String(error) };
  }

  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <Empty title="This part cannot be shown">
        <p>Its data is not what it should be; everything else still works.</p>
        <p class="code">{clip(this.state.error, 400)}</p>
      </Empty>
    );
  }
}

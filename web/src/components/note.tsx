// A remark next to figures; its severity is said in words and by a rule at its side.
import type { ComponentChildren } from 'preact';

export type Severity = 'note' | 'doubt' | 'loss' | 'problem';

export const severityOf = (text: unknown): Severity =>
  text === 'loss' || text === 'doubt' || text === 'problem' ? text : 'note';

interface NoteProps {
  severity?: Severity;
  title?: string;
  children?: ComponentChildren;
}

export function Note({ severity = 'note', title, children }: NoteProps) {
  return (
    <div class={`note ${severity}`} role="note">
      {title && <strong>{title}</strong>}
      <div>{children}</div>
    </div>
  );
}

/// Shown by a page instead of content that it has not got.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return <div class="empty"><h2>{title}</h2><div>{children}</div></div>;
}

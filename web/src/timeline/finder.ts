// The search of the page: the query, what it found, and where in it one is.

import type { Dataset } from './dataset';
import type { Span } from './header';
import { findEvents, matchNames, nextMatch, type Found, type NameMatch } from './search';

/** Where is searched, and what follows the search. */
interface Searched {
  readonly data: Dataset;
  readonly selection: number;
  readonly span: Span;
  select(event: number, show: boolean): void;
  changed(): void;
}

export class Search {
  query = '';
  found: Found | null = null;
  /** All names that match the query, also while only one of them is picked. */
  names: NameMatch[] = [];
  /** The one name the search is narrowed to; null for all that match. */
  only: number | null = null;
  /** Position in `found.events`; -1 before the first step. */
  at = -1;

  constructor(private readonly model: Searched) {}

  set(query: string): void {
    this.query = query;
    this.only = null;
    this.run();
    this.names = this.found?.names ?? [];
    this.model.changed();
  }

  /** Narrows to one name, or, given the same again, back to all. */
  pick(name: number): void {
    this.only = this.only === name ? null : name;
    this.run();
    this.step(1);
  }

  /** Finds again, in data that just changed. */
  again(): void {
    if (this.query !== '') this.set(this.query);
  }

  step(direction: 1 | -1): void {
    if (!this.found) return;
    const { timeline } = this.model.data;
    this.at = nextMatch(this.found, timeline, this.model.selection, this.model.span.from, direction);
    if (this.at >= 0) this.model.select(this.found.events[this.at]!, true);
    else this.model.changed();
  }

  private run(): void {
    this.at = -1;
    this.found = null;
    if (this.query.trim() === '') return;
    const { timeline, names } = this.model.data;
    const matches = matchNames(names, this.query);
    if (this.only !== null) matches.fill(0)[this.only] = 1;
    this.found = findEvents(timeline, matches, this.query);
  }
}

/** What nobody can tell from rows alone. */
export interface Doubt {
  /** Where in the expression of a field; empty: the field itself. */
  at: readonly (string | number)[];
  /** What was guessed. */
  text: string;
  /** Lines to choose from, below the text. */
  notes?: readonly string[];
}

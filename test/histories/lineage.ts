/** Which line of a CRM goes on from which one. What was said once counts for good: a number keeps its past. */
export class Lineage {
  readonly #earlier = new Map<string, string>();
  /** Lines of which the CRM says that no more; it may have been bought so all the same. */
  readonly #new = new Set<string>();
  /** Lines that the platform held while it held exactly what the CRM said, and that did not end or move since. */
  readonly #standing = new Set<string>();
  readonly #stood = new Set<string>();

  renews(line: string, earlier: string): void {
    this.#earlier.set(line, earlier);
  }

  /** The CRM gives it as a new line. */
  isNew(line: string): void {
    this.#new.add(line);
  }

  /** Whether somebody who is to have an asset of one line may have one of the other for it. */
  isMeantBy(line: string, claim: string): boolean {
    if (line === claim) return true;
    const earlier = this.#new.has(line) ? undefined : this.#earlier.get(line);
    return earlier !== undefined && this.isMeantBy(earlier, claim);
  }

  /** The first line of its row; lines with one root may have asset numbers in common. */
  root(line: string): string {
    const earlier = this.#earlier.get(line);
    return earlier === undefined ? line : this.root(earlier);
  }

  /** Whether a line is the other one or goes on from it, however many lie between. */
  isOrFollows(line: string, other: string): boolean {
    if (line === other) return true;
    const earlier = this.#earlier.get(line);
    return earlier !== undefined && this.isOrFollows(earlier, other);
  }

  /** The platform holds these lines, and exactly what the CRM says. */
  held(lines: readonly string[]): void {
    for (const line of lines) {
      this.#standing.add(line);
      this.#stood.add(line);
    }
  }

  /** These lines are to be bought anew: they came back, or belong to another customer now. */
  anew(lines: readonly string[]): void {
    for (const line of lines) this.#standing.delete(line);
  }

  stands(line: string): boolean {
    return this.#standing.has(line);
  }

  everStood(line: string): boolean {
    return this.#stood.has(line);
  }
}

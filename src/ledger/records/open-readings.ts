import type { Stream } from "../../crm/model.ts";
import type { ExpectedForms } from "./expected-forms.ts";
import { SeenForms } from "./seen-forms.ts";

/** A reading that goes on: the forms that it has met as they were, and those that it will most likely meet. */
export interface Reading {
  source: string;
  stream: Stream;
  seen: SeenForms;
  expected: ExpectedForms;
  /** Records that it has taken up itself, each counted once. */
  taken: number;
  /** The number of the first of its parts: its own, where it went on with none. */
  first: number;
}

/** The readings that go on, by their numbers. */
export class OpenReadings {
  readonly #readings = new Map<number, Reading>();
  readonly #expected: (source: string, stream: Stream, read: number) => ExpectedForms;

  constructor(expected: (source: string, stream: Stream, read: number) => ExpectedForms) {
    this.#expected = expected;
  }

  get(read: number): Reading | undefined {
    return this.#readings.get(read);
  }

  of(read: number, source: string, stream: Stream): Reading {
    const found = this.#readings.get(read);
    if (found !== undefined) return found;
    const expected = this.#expected(source, stream, read);
    const reading = { source, stream, seen: new SeenForms(), expected, taken: 0, first: read };
    this.#readings.set(read, reading);
    return reading;
  }

  /** Lets go of what a reading has met. */
  end(read: number): void {
    this.#readings.get(read)?.seen.close();
    this.#readings.delete(read);
  }
}

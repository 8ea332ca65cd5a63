import type { Stream } from "../../crm/model.ts";
import type { ExpectedForms } from "./expected-forms.ts";
import { Reading } from "./reading.ts";

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
    const reading = new Reading(source, stream, this.#expected(source, stream, read), read);
    this.#readings.set(read, reading);
    return reading;
  }

  /** Lets go of what a reading has met. */
  end(read: number): void {
    this.#readings.get(read)?.close();
    this.#readings.delete(read);
  }
}

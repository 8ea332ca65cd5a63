import type { StateChange } from "../../engine/model/state.ts";
import { writeChange, writesOf } from "./registry.ts";
import type { StateRows } from "./registry.ts";

/** Applies changes to the tables of what is known and observed. Runs inside the writer's transaction. */
export class ChangeTables {
  readonly #writes;

  constructor(rows: StateRows) {
    this.#writes = writesOf(rows);
  }

  apply(change: StateChange, at: string): void {
    writeChange(this.#writes, change, at);
  }
}

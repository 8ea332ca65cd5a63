import type { StateChange, StateChanges } from "../../operation/state.ts";
import { writesOf } from "./registry.ts";
import type { StateRows } from "./registry.ts";

/** Applies changes to the tables of what is known and observed. Runs inside the writer's transaction. */
export class ChangeTables {
  readonly #writes;

  constructor(rows: StateRows) {
    this.#writes = writesOf(rows);
  }

  apply(change: StateChange, at: string): void {
    this.#write(change.type, change, at);
  }

  #write<Type extends keyof StateChanges>(type: Type, change: StateChanges[Type], at: string): void {
    this.#writes[type](change, at);
  }
}

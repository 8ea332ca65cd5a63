import type { OldChange, OldChanges, StateChange } from "../../operation/state.ts";
import { writesOf } from "./registry.ts";
import type { StateRows } from "./registry.ts";

/** Applies changes to the tables of what is known and observed. Runs inside the writer's transaction. */
export class ChangeTables {
  readonly #rows: StateRows;
  readonly #writes;

  constructor(rows: StateRows) {
    this.#rows = rows;
    this.#writes = writesOf(rows);
  }

  apply(change: StateChange, at: string): void {
    if (this.#isOld(change)) this.#write(change.type, change, at);
    else if (!this.#rows.resources.values().some((rows) => rows.write(change, at)))
      throw new Error(`nobody writes the change ${change.type}`);
  }

  #isOld(change: StateChange): change is OldChange {
    return Object.hasOwn(this.#writes, change.type);
  }

  #write<Type extends keyof OldChanges>(type: Type, change: OldChanges[Type], at: string): void {
    this.#writes[type](change, at);
  }
}

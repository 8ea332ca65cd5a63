import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { parseJsonObject } from "../../base/canonical-json.ts";
import type { PrivateMarker } from "../../operation/references.ts";
import type { ChangeTables } from "../state/changes.ts";
import type { LedgerContext } from "../context.ts";
import type { KnownTables } from "../state/known.ts";
import type { FullRow, Row } from "../tables.ts";

/** Secrets of one record, under the name that they are sealed for. */
export interface SealedValues {
  ref: string;
  version: number;
  salt: string;
  values: JsonObject;
}

/** Names, mobiles, addresses and passwords: the one table that holds them, erasable and never exported. */
export class PrivateValues {
  readonly #context: LedgerContext;
  readonly #known: KnownTables;
  readonly #changes: ChangeTables;

  constructor(context: LedgerContext, tables: { known: KnownTables; changes: ChangeTables }) {
    this.#context = context;
    this.#known = tables.known;
    this.#changes = tables.changes;
  }

  /** The value behind a marker, or undefined where it was erased, wiped, or does not fit its commitment. */
  valueOf(marker: PrivateMarker): Json | undefined {
    return this.#context.read(() => this.#known.privateValue(marker));
  }

  /**
   * A random text of this ledger that raw forms are hashed with; it lives in the private table, and erasing it makes
   * the hashes say nothing.
   */
  async rawSalt(): Promise<string> {
    const find = this.#context.database.prepare<[], FullRow<"private_value", "salt">>(
      "select salt from private_value where ref = 'raw-salt' and version = 1",
    );
    const known = find.get()?.salt;
    if (known !== undefined) return known;
    await this.#context.write(() =>
      this.#context.database
        .prepare(
          "insert into private_value (ref, version, salt, created_at) values ('raw-salt', 1, ?, ?) on conflict do nothing",
        )
        .run(this.#context.random.hex(16), this.#context.now),
    );
    return find.get()?.salt ?? "";
  }

  /** The newest secret sealed under a name that is not wiped yet, and the version that the next one takes. */
  async latestSealed(ref: string): Promise<{ values: JsonObject | undefined; version: number; nextVersion: number }> {
    const row = this.#context.database
      .prepare<[string], Row<"private_value", "version" | "sealed">>(
        "select version, sealed from private_value where ref = +? order by version desc limit 1",
      )
      .get(ref);
    if (row === undefined) return { values: undefined, version: 0, nextVersion: 1 };
    const usable = row.sealed !== null && this.#context.sealing !== undefined;
    const values =
      usable && row.sealed !== null
        ? parseJsonObject(this.#context.sealing?.open(row.sealed, { ref, version: row.version }) ?? "{}")
        : undefined;
    return { values, version: row.version, nextVersion: row.version + 1 };
  }

  async wipeSealed(ref: string, version: number): Promise<void> {
    await this.#context.write(() => this.#changes.apply({ type: "secrets-wiped", ref, version }, this.#context.now));
  }

  /** Seals secrets that a payload needs for the first time, inside the transaction of its intent. */
  seal(item: SealedValues, at: string): void {
    if (this.#context.sealing === undefined) throw new Error("secrets cannot be stored without a sealing key");
    this.#context.database
      .prepare(
        "insert into private_value (ref, version, salt, body, sealed, created_at) values (?, ?, ?, null, ?, ?) on conflict do nothing",
      )
      .run(item.ref, item.version, item.salt, this.#context.sealing.seal(JSON.stringify(item.values), item), at);
  }

  get canSeal(): boolean {
    return this.#context.sealing !== undefined;
  }
}

import type { Json, JsonObject } from "../../base/canonical-json.ts";
import type { PrivateMarker } from "../../engine/model/references.ts";
import type { LedgerContext } from "../context.ts";
import { lockBeside } from "../database/lock.ts";
import { stored } from "../database/damage.ts";
import type { ChangeTables } from "../state/registry.ts";
import { Erasure, type Erasable, type Erased } from "./erasure.ts";
import { commitmentTo } from "./private.ts";
import type { PrivateTables } from "./private-tables.ts";

export interface SealedValues {
  ref: string;
  version: number;
  salt: string;
  values: JsonObject;
}

interface PrivateRecord {
  salt: string;
  values: JsonObject;
  sealed: string | null;
}

interface PrivateReader {
  valueOf: (marker: PrivateMarker) => Json | undefined;
  salts: () => string[];
}

export class PrivateValues {
  readonly #context: LedgerContext;
  readonly #private: PrivateTables;
  readonly #changes: ChangeTables;
  readonly #erasure: Erasure;

  constructor(context: LedgerContext, tables: { private: PrivateTables; changes: ChangeTables }) {
    this.#context = context;
    this.#private = tables.private;
    this.#changes = tables.changes;
    this.#erasure = new Erasure(context);
  }

  async erase(whose: Erasable, decided: { by: string; reason: string }): Promise<Erased> {
    return await this.#erasure.erase(whose, decided);
  }

  async overwriteErased(): Promise<string | undefined> {
    return await this.#erasure.overwrite();
  }

  /** The value of a marker. Undefined if it was erased or does not match its commitment. */
  valueOf(marker: PrivateMarker): Json | undefined {
    return this.reader().valueOf(marker);
  }

  /** Reads each record of a payload once. `salts()` returns the salts it has read, unique and sorted. */
  reader(): PrivateReader {
    const records = new Map<string, PrivateRecord>();
    return {
      valueOf: (marker) =>
        this.#context.read(() => {
          const { $private: ref, version } = marker;
          const key = `${version} ${ref}`;
          const record = records.get(key) ?? this.#record(ref, version);
          if (record === undefined) return undefined;
          records.set(key, record);
          return this.#valueIn(record, marker);
        }),
      salts: () => [...new Set([...records.values()].map(({ salt }) => salt))].sort(),
    };
  }

  #record(ref: string, version: number): PrivateRecord | undefined {
    const row = this.#private.find(ref, version);
    if (row === undefined || row.salt === null) return undefined;
    const { salt, body, sealed } = row;
    return { salt, values: body === null ? {} : stored<JsonObject>(body, `private_value ${ref}`), sealed };
  }

  #valueIn(record: PrivateRecord, { $private: ref, version, field, commitment }: PrivateMarker): Json | undefined {
    const { salt, values, sealed } = record;
    const { sealing } = this.#context;
    let value = values[field];
    if (value === undefined && sealed !== null && sealing !== undefined)
      value = stored<JsonObject>(sealing.open(sealed, { ref, version }), `private_value ${ref}`)[field];
    return value === undefined || commitmentTo(salt, field, value) !== commitment ? undefined : value;
  }

  /** The salt of hashes of raw forms. Erasing it from the private table makes these hashes meaningless. */
  async rawSalt(): Promise<string> {
    const known = this.#context.read(() => this.#private.rawSalt());
    if (known !== undefined) return known;
    return await this.#context.write(() => {
      this.#private.keepRawSalt(this.#context.random.hex(16), this.#context.now);
      return this.#private.rawSalt() ?? "";
    });
  }

  /** `values` is undefined if the newest secret was wiped or there is no key. */
  async latestSealed(ref: string): Promise<{ values: JsonObject | undefined; version: number; nextVersion: number }> {
    const row = this.#context.read(() => this.#private.latest(ref));
    if (row === undefined) return { values: undefined, version: 0, nextVersion: 1 };
    const { version, sealed } = row;
    const { sealing } = this.#context;
    const values =
      sealed === null || sealing === undefined
        ? undefined
        : stored<JsonObject>(sealing.open(sealed, { ref, version }), `private_value ${ref}`);
    return { values, version, nextVersion: version + 1 };
  }

  /** Erasing a value deletes its salt too. */
  isErased(ref: string, version: number): boolean {
    const row = this.#context.read(() => this.#private.find(ref, version));
    return row?.salt === null && row.body === null && row.sealed === null;
  }

  /** Undefined if the password was wiped or there is no key. */
  async sealedPassword(ref: string, version: number): Promise<string | undefined> {
    const sealed = this.#context.read(() => this.#private.find(ref, version)?.sealed) ?? null;
    const { sealing } = this.#context;
    if (sealed === null || sealing === undefined) return undefined;
    const { password } = stored<JsonObject>(sealing.open(sealed, { ref, version }), `private_value ${ref}`);
    return typeof password === "string" ? password : undefined;
  }

  /** One process at a time, so that no password is handed out twice. Throws a Problem (exit code 75) if locked. */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    const held = lockBeside(this.#context.path, ".handing-out", {
      code: "staff.password-asked",
      what: "no password was handed out, because somebody else receives one now from the ledger",
      cure: "run the command again in a moment",
    });
    try {
      return await work();
    } finally {
      held.release();
    }
  }

  async wipeSealed(ref: string, version: number): Promise<void> {
    await this.#context.write(() => this.#changes.apply({ type: "secrets-wiped", ref, version }, this.#context.now));
  }

  /** Call it inside the transaction of the intent that needs the secrets. */
  seal(item: SealedValues, at: string): void {
    const { sealing } = this.#context;
    if (sealing === undefined) throw new Error("secrets cannot be stored without a sealing key");
    this.#private.seal(item, sealing.seal(JSON.stringify(item.values), item), at);
  }

  get canSeal(): boolean {
    return this.#context.sealing !== undefined;
  }
}

import { copyFileSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { Problem } from "../../src/base/errors.ts";
import { openDatabase } from "../../src/ledger/database/database.ts";

const parts = ["", "-wal"];

/** A copy of a ledger's file as somebody takes it at any moment, without the file of heads beside it. */
export class Backup {
  readonly #path: string;
  /** How long the file of heads was when the copy was taken; it grows with everything that is committed. */
  #heads: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  get isTaken(): boolean {
    return this.#heads !== undefined;
  }

  take(): void {
    this.remove();
    for (const part of parts)
      if (existsSync(this.#path + part)) copyFileSync(this.#path + part, `${this.#path}.copy${part}`);
    this.#heads = this.#length();
  }

  /**
   * Puts the copy in the place of the ledger, which no program has open, and tries to begin with it; then the ledger is
   * put back, as a person does who was told. Answers what was wrong: a copy that lacks something has to be refused, and
   * one that lacks nothing has not.
   */
  async putBack(): Promise<string | undefined> {
    const lacksSomething = this.#length() > (this.#heads ?? 0);
    const code = await this.#tried();
    if (lacksSomething && code !== "ledger.behind")
      return `an older ledger that was put back is not refused (${code ?? "no problem"})`;
    if (!lacksSomething && code !== undefined) return `the same ledger that was put back is refused: ${code}`;
    return undefined;
  }

  async #tried(): Promise<string | undefined> {
    for (const part of parts) {
      if (existsSync(this.#path + part)) renameSync(this.#path + part, `${this.#path}.newest${part}`);
      if (existsSync(`${this.#path}.copy${part}`)) copyFileSync(`${this.#path}.copy${part}`, this.#path + part);
    }
    rmSync(`${this.#path}-shm`, { force: true });
    try {
      openDatabase(this.#path).close();
      return undefined;
    } catch (error) {
      if (error instanceof Problem) return error.code;
      throw error;
    } finally {
      for (const part of parts) {
        rmSync(this.#path + part, { force: true });
        if (existsSync(`${this.#path}.newest${part}`)) renameSync(`${this.#path}.newest${part}`, this.#path + part);
      }
      rmSync(`${this.#path}-shm`, { force: true });
    }
  }

  remove(): void {
    for (const part of parts) rmSync(`${this.#path}.copy${part}`, { force: true });
  }

  #length(): number {
    return statSync(`${this.#path}.heads`, { throwIfNoEntry: false })?.size ?? 0;
  }
}

import { cpSync } from "node:fs";
import { join } from "node:path";
import { crmSync, goodRunOf, runJob, runResultOf } from "../program.ts";
import type { Place } from "../program.ts";
import { sealEnvironment } from "./crm.ts";
import { configOf, continueWorld, ledgerOf, platformOf, writeWorld } from "./small.ts";
import type { Change } from "./small.ts";
import { newSandbox, rowsOf } from "./start.ts";

/**
 * The folders that changes begin from: the synchronised base, and one more for each change that something else comes
 * before. Each is made when it is asked for first.
 */
export class Beginnings {
  readonly #folder: string;
  #count = 0;
  readonly #made = new Map<Change | undefined, Promise<string>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The folder that a change begins from. */
  async of(change: Change): Promise<string> {
    return await this.#once(change.after === undefined ? undefined : change);
  }

  /** The folder in which the base is synchronised. */
  async base(): Promise<string> {
    return await this.#once(undefined);
  }

  async #once(change: Change | undefined): Promise<string> {
    const made = this.#made.get(change);
    if (made !== undefined) return await made;
    this.#count += 1;
    const making = this.#make(change, join(this.#folder, `beginning-${this.#count}`));
    this.#made.set(change, making);
    return await making;
  }

  async #make(change: Change | undefined, path: string): Promise<string> {
    if (change === undefined) {
      writeWorld(path);
      await onPlatform(path, undefined, async (place) => void goodRunOf(await runJob(place)));
      return path;
    }
    const { after, approved, world } = change;
    cpSync(await this.base(), path, { recursive: true });
    writeWorld(path, after?.world);
    await onPlatform(path, change, async (place) => void goodRunOf(await runJob(place)));
    after?.change?.(path);
    if (approved !== true) return path;
    writeWorld(path, world);
    await onPlatform(path, change, (place) => approve(place, path, change));
    return path;
  }
}

/** A run holds the very operation, and a person approves it. */
async function approve(place: Place, path: string, { kind }: Change): Promise<void> {
  const { exit } = runResultOf(await runJob(place));
  const [held] = rowsOf<{ id: string }>(
    ledgerOf(path),
    "select id from operation where kind = ? and state = 'held'",
    kind,
  );
  if (held === undefined) throw new Error(`no ${kind} is held, exit ${exit}`);
  const { exitCode, stderr } = await crmSync(place, "approve", held.id, "--reason", "asked the customer");
  if (exitCode !== 0) throw new Error(`${kind} is not approved: ${stderr}`);
}

async function onPlatform(
  path: string,
  change: Change | undefined,
  work: (place: Place) => Promise<void>,
): Promise<void> {
  const sandbox = await newSandbox({ store: platformOf(path) });
  const environment = { ...sealEnvironment, ...change?.environment };
  try {
    await work({ config: configOf(path), sandbox: sandbox.url, ledger: ledgerOf(path), environment });
  } finally {
    await sandbox.close();
  }
}

/** A folder in which a change is about to be carried out. */
export async function begin(beginnings: Beginnings, change: Change, path: string): Promise<void> {
  continueWorld(await beginnings.of(change), path, change.world);
}

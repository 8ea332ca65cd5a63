import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { openDatabase } from "../../src/ledger/database/database.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** A ledger in its newest form that holds nothing but its salt. */
    newLedger: string | undefined;
  }
}

/** Makes that ledger once for all tests: to make one and to derive its key costs more than most of them. */
export default async function setup(project: TestProject): Promise<() => void> {
  const folder = mkdtempSync(join(tmpdir(), "crm-sync-new-ledger-"));
  const path = join(folder, "ledger.db");
  openDatabase(path).close();
  const database = new Database(path);
  database.prepare("insert into meta (key, value) values ('seal-salt', ?)").run("00".repeat(16));
  database.pragma("wal_checkpoint(truncate)");
  database.close();
  project.provide("newLedger", path);
  return () => rmSync(folder, { recursive: true, force: true });
}

/**
 * Puts a copy of it where there is no ledger yet. That the program makes its own, with a salt of its own, is tried in
 * test/ledger, test/faults and test/scenarios.
 */
export function putNewLedger(path: string): void {
  const made = inject("newLedger");
  if (made !== undefined && !existsSync(path)) copyFileSync(made, path);
}

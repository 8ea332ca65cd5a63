import { appendFileSync, closeSync, existsSync, fsyncSync, openSync, readFileSync } from "node:fs";
import { z } from "zod";
import { messageOf } from "../base/errors.ts";
import type { AuditHead } from "./audit.ts";
import { refused } from "./damage.ts";

const headLine = z.strictObject({ sequence: z.int().min(1), hash: z.string().regex(/^[0-9a-f]{64}$/), at: z.string() });

/** The file beside the ledger that keeps the chain's head after each run: one JSON line each. Copy it elsewhere to make a cut visible. */
export function headsPath(ledgerPath: string): string {
  return `${ledgerPath}.heads`;
}

/** Keeps the head of a run that is recorded already. Throws a Problem with exit code 65 where the file cannot be written. */
export function keepHead(ledgerPath: string, head: AuditHead, at: string): void {
  const path = headsPath(ledgerPath);
  try {
    appendHead(path, head, at);
  } catch (error) {
    throw refused(
      "ledger.head-not-kept",
      path,
      `the head of the audit record cannot be kept in ${path}: ${messageOf(error)}. What the run did is in the ledger; only this file lacks it`,
      "check the disk and that this user may write there, then start again: the next run keeps the head",
      error,
    );
  }
}

function appendHead(path: string, head: AuditHead, at: string): void {
  const kept = readKeptHeads(path);
  if (kept.at(-1)?.sequence === head.sequence && kept.at(-1)?.hash === head.hash) return;
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  // A line that a crash left half-written is ended first, so that it does not swallow this one.
  const ended = text === "" || text.endsWith("\n") ? "" : "\n";
  appendFileSync(path, `${ended}${JSON.stringify({ sequence: head.sequence, hash: head.hash, at })}\n`);
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Heads kept so far, oldest first. A last line that a crash left half-written is passed over; it was never promised. */
export function readKeptHeads(path: string): AuditHead[] {
  if (!existsSync(path)) return [];
  const heads: AuditHead[] = [];
  for (const line of readFileSync(path, "utf8").split("\n")) {
    if (line === "") continue;
    try {
      const parsed = headLine.safeParse(JSON.parse(line));
      if (parsed.success) heads.push({ sequence: parsed.data.sequence, hash: parsed.data.hash });
    } catch {
      continue;
    }
  }
  return heads;
}

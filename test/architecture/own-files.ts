import { requestKinds } from "../../src/operation/requests.ts";
import type { RequestOf } from "../../src/operation/requests.ts";
import type { SourceFile } from "./rules.ts";

/** By which words the program speaks of what a person can ask for, and the only files that do. */
interface Own {
  words: RegExp;
  /** Its own: its kinds of operation and of request, its planning rule, its command. */
  files: readonly string[];
  /** The family of commands that its command is in, which the program lists under another name. */
  family?: string;
  /** What no other file may say. */
  leak: string;
}

/** Where a kind of request is listed, a line each. */
const registries = [
  "src/operation/registry.ts",
  "src/operation/requests.ts",
  "src/plan/requested.ts",
  "src/plan/undo-rules.ts",
  "src/cli/program.ts",
];

export const ownFiles: Readonly<Record<RequestOf, Own>> = {
  loan: {
    words:
      /[lL]oan-?[rR]equest|[bB]orrow-?[aA]ssets|of: "loan"|=== "loan"|[a-z]Loans\b|"M10"|(?:^ +|\{ )loan: |\/(?:loans|borrow)\.ts"/mu,
    files: [
      "src/operation/loan-request.ts",
      "src/operation/borrow-assets.ts",
      "src/plan/loans.ts",
      "src/plan/crm-loans.ts",
      "src/plan/stages.ts",
      "src/plan/lendable.ts",
      "src/app/loans.ts",
      "src/cli/commands/borrow.ts",
    ],
    leak: 'const asked = requests.filter(({ of }) => of === "loan");',
  },
  lock: {
    words:
      /(?<!that |the )\b[Ll]ocks\b|[lL]ock-?(?:[aA]ssets|[rR]equest)|[a-z]Locks\b|["'](?:un)?lock(?:ed)?["'.]|\block_|(?:^ +|\{ )lock(?:: |,$)|[lL]ockStatus|operatorIdentity|"E[67]"|physical lock|(?<!database)\/locks?\.ts"/mu,
    files: [
      "src/operation/lock-request.ts",
      "src/operation/switch-locks.ts",
      "src/operation/lock-assets.ts",
      "src/operation/unlock-assets.ts",
      "src/operation/policy.ts",
      "src/operation/taking.ts",
      "src/ledger/state/live.ts",
      "src/plan/policy-settings.ts",
      "src/plan/locks.ts",
      "src/plan/crm-locks.ts",
      "src/plan/stages.ts",
      "src/app/locks.ts",
      "src/cli/commands/lock.ts",
    ],
    leak: "const asked = known.locks;",
  },
  password: {
    words:
      /[pP]assword-?[rR]equest|"reset-password"|"M3"|\/(?:passwords|reset-password)\.ts"|(?:of:|=== ) ?"password"/mu,
    files: [
      "src/operation/password-request.ts",
      "src/operation/reset-password.ts",
      "src/plan/passwords.ts",
      "src/app/reset-password.ts",
      "src/app/staff-password.ts",
    ],
    family: "src/cli/commands/staff.ts",
    leak: 'const asked = requests.filter(({ of }) => of === "password");',
  },
};

export const requestNames = Object.keys(requestKinds).filter((name): name is RequestOf =>
  Object.hasOwn(ownFiles, name),
);

/** Rooms that speak the contract's language, or the CRM's: they know everything, whether something uses it or not. */
const contractRooms = /^src\/(?:contract|crm|http|platform|sandbox)\//u;

/**
 * Every file that names a kind of request, by the kind; the contract's own rooms apart, and the files of other kinds: a
 * lock is lent too.
 */
export function namersOf(files: readonly SourceFile[], of: RequestOf): string[] {
  const { words } = ownFiles[of];
  const others = new Set(requestNames.filter((name) => name !== of).flatMap((name) => ownFiles[name].files));
  return files
    .filter(({ path }) => ownFiles[of].files.includes(path) || !others.has(path))
    .filter(({ path }) => path.startsWith("src/") && !contractRooms.test(path))
    .filter(({ text }) => words.test(text))
    .map(({ path }) => path);
}

/** The files that may, and that have to. */
export function expectedNamers(of: RequestOf): string[] {
  const { files, family } = ownFiles[of];
  const lists = registries.map((path) => (path === "src/cli/program.ts" ? (family ?? path) : path));
  return [...files, ...lists];
}

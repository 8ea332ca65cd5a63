import { requestKinds } from "../../src/operation/requests.ts";
import type { RequestOf } from "../../src/operation/requests.ts";
import type { SourceFile } from "./rules.ts";

/** By which words the program speaks of what a person can ask for, and the only files that do. */
interface Own {
  words: RegExp;
  /** Its own: its kinds of operation and of request, its planning rule, its command. */
  files: readonly string[];
}

/** Where a kind of request is listed, a line each. */
const registries = [
  "src/operation/registry.ts",
  "src/operation/requests.ts",
  "src/plan/requested.ts",
  "src/cli/program.ts",
];

export const ownFiles: Readonly<Record<RequestOf, Own>> = {
  lock: {
    words:
      /(?<!that |the )\b[Ll]ocks\b|[lL]ock-?(?:[aA]ssets|[rR]equest)|[a-z]Locks\b|["'](?:un)?lock(?:ed)?["'.]|\block_|(?:^ +|\{ )lock(?:: |,$)|[lL]ockStatus|operatorIdentity|"E[67]"|physical lock|(?<!database)\/locks?\.ts"/mu,
    files: [
      "src/operation/lock-request.ts",
      "src/operation/switch-locks.ts",
      "src/operation/lock-assets.ts",
      "src/operation/unlock-assets.ts",
      "src/plan/locks.ts",
      "src/app/locks.ts",
      "src/cli/commands/lock.ts",
    ],
  },
};

/** Rooms that speak the contract's language: they know every endpoint, whether something calls it or not. */
const contractRooms = /^src\/(?:contract|http|platform|sandbox)\//u;

/** Every file that names a kind of request, by the kind; the contract's own rooms apart. */
export function namersOf(files: readonly SourceFile[], of: RequestOf): string[] {
  const { words } = ownFiles[of];
  return files
    .filter(({ path }) => path.startsWith("src/") && !contractRooms.test(path))
    .filter(({ text }) => words.test(text))
    .map(({ path }) => path);
}

/** The files that may, and that have to. */
export function expectedNamers(of: RequestOf): string[] {
  return [...ownFiles[of].files, ...registries];
}

export const requestNames = Object.keys(requestKinds).filter((name): name is RequestOf =>
  Object.hasOwn(ownFiles, name),
);

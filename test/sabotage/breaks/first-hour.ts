import type { Breaks } from "../break.ts";

/** What a person who asks for a first configuration may lose by it. */
export const firstHour: Breaks = {
  "a secret that was typed stands in the configuration": {
    file: "src/app/guided/typed-secrets.ts",
    within: "TypedSecrets.keep",
    find: "return `file:${$path}`;",
    replace: "return value;",
    test: "cli/init-interactive.test.ts",
    title:
      "init --interactive > asks for the real services and what the contracts leave open, and keeps typed secrets in files of their own",
  },
  "a configuration that came up meanwhile is written over": {
    file: "src/app/guided/write-files.ts",
    within: "writeFiles",
    find: "if ($replaces) renameSync",
    replace: "if (path) renameSync",
    test: "app/guided/write-files.test.ts",
    title: "a configuration that came up meanwhile stays as it is, and no secret is left beside it",
  },
};

import type { Breaks } from "../break.ts";

/** What the pages of quarantine, settling and reports may show and do. */
export const pagesOfWork: Breaks = {
  "a raw row is shown to whoever may not see private values": {
    file: "src/web/pages/quarantine.ts",
    within: "rawForm",
    find: "if (!person.mayAskForPrivate || dashboard.live === undefined)",
    replace: "if (dashboard.live === undefined)",
    test: "web/quarantine.test.ts",
    title:
      "the pages of the quarantine > show a row beside the mapping that it failed at, and what came only to who asks and may, once it is written down",
  },
  "a raw row is shown without an audit entry": {
    file: "src/app/raw-form.ts",
    within: "askForRawForm",
    find: "await ledger.audit.append({",
    replace: "void ({",
    test: "web/quarantine.test.ts",
    title: "the pages of the quarantine > show nothing that came where it cannot be written down who asked",
  },
  "a retry keeps the run lock": {
    file: "src/app/retry-quarantine.ts",
    within: "mapAnew",
    find: "ledger.runs.releaseLock();",
    replace: "",
    test: "web/quarantine.test.ts",
    title: "the pages of the quarantine > do not touch the sources while a run is on, and let go of the run lock",
  },
  "a statement that failed is given as if it were whole": {
    file: "src/app/long-reads.ts",
    within: "wholeBytes",
    find: "if (exitCode !== 0)",
    replace: "if (exitCode === null)",
    test: "web/reports.test.ts",
    title:
      "the pages of reports > say clearly that a statement could not be made, and never give a part of it as if it were all",
  },
  "what the configuration may hold of secrets is shown": {
    file: "src/app/shown-settings.ts",
    within: "leafText",
    find: 'if (isSecretKey(path) || path.includes("headers")) return notShown;',
    replace: "void isSecretKey;",
    test: "web/records-of-work.test.ts",
    title:
      "the pages of configuration and alerts > say where each setting comes from, and show a secret by its reference alone, on every page",
  },
};

import type { Breaks } from "../break.ts";

/** What a program that serves takes over while it runs. */
export const serving: Breaks = {
  "a bad configuration is taken over while the program runs": {
    file: "src/app/reload.ts",
    within: "reload",
    find: "if (problems.length > 0)",
    replace: "if (problems.length > 99)",
    test: "app/reload.test.ts",
    title:
      "a configuration that was written while the program runs > is refused as a whole where it is about another address",
  },
  "jobs that cannot be are taken over while the program runs": {
    file: "src/app/reload.ts",
    within: "reload",
    find: "next.jobs();",
    replace: "",
    test: "app/reload.test.ts",
    title:
      "a configuration that was written while the program runs > is refused as a whole where it has a job that cannot be",
  },
  "a configuration of other services is taken over while the program runs": {
    file: "src/app/reload.ts",
    within: "reload",
    find: "await next.requirePlatform();",
    replace: "",
    test: "app/reload.test.ts",
    title:
      "a configuration that was written while the program runs > is refused where it is about other services than those of the ledger",
  },
  "a fire time that waited runs by the job as it was": {
    file: "src/run/schedule.ts",
    within: "Schedule.#change",
    find: "this.#owed.set(id, { ...due, job });",
    replace: "this.#owed.set(id, { job, ...due });",
    test: "run/schedule.test.ts",
    title:
      "the schedule > has what waits for the lock run by the job as it is by then, and not at all where it has no schedule any more",
  },
  "private values are shown and nobody writes down who asked": {
    file: "src/app/private-shown.ts",
    within: "askForPrivate",
    find: "await ledger.audit.append({",
    replace: "void ledger.audit.append({",
    test: "web/records.test.ts",
    title: "private values on a page > are not shown where the entry cannot be written",
  },
  "private values are shown to a role that may not see them": {
    file: "src/web/pages/record.ts",
    within: "recordRoutes",
    find: "if (!person.mayAskForPrivate) return",
    replace: 'if (person.name === "") return',
    test: "web/records.test.ts",
    title: "private values on a page > are not shown to a role that may not, and no entry says that they were",
  },
};

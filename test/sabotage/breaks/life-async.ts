import type { Breaks } from "../break.ts";

const file = "scenarios/life/async.test.ts";

/** Orders that are answered before they are carried out. */
export const lifeAsync: Breaks = {
  "the answer to an asynchronous order counts as the order": {
    file: "src/operation/order-call.ts",
    within: "sendPurchase",
    find: "if (isAsync($request)) return takenLater;",
    replace: "",
    test: file,
    title: "until the platform shows it nothing of the order counts, and the next run sends it no second time",
  },
  "the answer to an asynchronous deletion counts as the deletion": {
    file: "src/operation/deletion.ts",
    within: "prepareDeletion",
    find: "if (isAsync($request.data)) return takenLater;",
    replace: "",
    test: file,
    title: "what is taken away asynchronously stays known until M7 shows that it is gone",
  },
  "an asynchronous order that is not shown is sent again": {
    file: "src/apply/settle.ts",
    within: "Settling.#notFound",
    find: "if (isAsynchronous($row.operation)) return await this.#notByItsDeadline($open, $reading.detail);",
    replace: "",
    test: file,
    title: "an order that is not shown by its deadline is a person's, is never sent again, and stops only its own kind",
  },
  "an asynchronous order has the settle time of others": {
    file: "src/apply/settle-time.ts",
    within: "landsWithin",
    find: "Math.max($settle.timeMs, $settle.asyncDeadlineMs)",
    replace: "$settle.timeMs",
    test: "apply/settle.test.ts",
    title:
      "an asynchronous order whose program was killed > after the service had it: it is looked for until its deadline, and never sent again by itself",
  },
};

import type { Breaks } from "../break.ts";

/** Telling people: nothing is lost on the way, and nothing is told that is not so. */
export const telling: Breaks = {
  "what a way did not deliver counts as told": {
    file: "src/run/notify/tell.ts",
    within: "tellBy",
    find: `if ($goesOn === "delivered") {`,
    replace: `if ($goesOn !== "stop") {`,
    test: "cli/alerts.test.ts",
    title: "a way that is down for two runs loses nothing, repeats nothing on the other, and is itself told there",
  },
  "a way that fails makes the others silent": {
    file: "src/run/notify/tell.ts",
    within: "delivers",
    find: `return { problem: reason, goesOn: $thrown instanceof Unreached ? "stop" : "next" };`,
    replace: "throw $thrown;",
    test: "run/notify/several-ways.test.ts",
    title: "a way hears the same whatever becomes of another one",
  },
  "what one way told counts for all of them": {
    file: "src/run/notify/tell.ts",
    within: "notifyChanges",
    find: "$told.get($way.name) ?? new Map<string, Told>()",
    replace: "[...$told.values()][0] ?? new Map<string, Told>()",
    test: "run/notify/several-ways.test.ts",
    title: "a way hears the same whatever becomes of another one",
  },
  "the dead man's switch is called after a run that was not good": {
    file: "src/run/notify/dead-mans-switch.ts",
    within: "isGoodRun",
    find: "goodExits.some(($code) => $code === run.exitCode)",
    replace: "goodExits.length > 0",
    test: "cli/alerts.test.ts",
    title: "a dead man's switch is called after each good run, after no other one, and by nothing else",
  },
  "a dead man's switch that cannot be called is told to nobody": {
    file: "src/run/alerts.ts",
    within: "deliveryAlerts",
    find: "if (problem === null) return [];",
    replace: `if (problem === null || kind === "switch") return [];`,
    test: "cli/alerts.test.ts",
    title: "a dead man's switch that cannot be called is logged, shown, told, tried again, and never names its address",
  },
  "the address of a chat stands in the log": {
    file: "src/run/webhook.ts",
    within: "call",
    find: "codeOf($thrown)",
    replace: "url",
    test: "run/notify/ways.test.ts",
    title: "a message by slack > is not delivered to http://127.0.0.1:1/chat-secret",
  },
  "nobody is reminded of what still stands": {
    file: "src/run/notify/due.ts",
    within: "isDue",
    find: "Math.abs(now - Date.parse(toldAt)) >= remindAfterMs",
    replace: "Math.abs(now - Date.parse(toldAt)) < 0",
    test: "run/notify/several-ways.test.ts",
    title: "what stands is told by each way when it begins, grows, still stands a day later, and ends",
  },
};

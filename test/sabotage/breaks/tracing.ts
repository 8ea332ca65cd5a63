import type { Breaks } from "../break.ts";

/** What leaves the program in spans, and what the sending of them may cost a run. */
export const tracing: Breaks = {
  "whatever a service writes as its code leaves in a span": {
    file: "src/platform/traced-client.ts",
    within: "codeOf",
    find: 'return { code: $known.has($code) ? $code : "other" };',
    replace: "return { code };",
    test: "cli/traces.test.ts",
    title: "plans, readings and what a service answers in words of its own are traced without those words",
  },
  "what a service writes in the place of a code is repeated": {
    file: "src/http/classification.ts",
    within: "shownCode",
    find: '$code : "unreadable"',
    replace: "$code : $code",
    test: "cli/odd-codes.test.ts",
    title: "a name that a service answers as the code of E5 is nowhere in what is said",
  },
  "a header that is a secret goes to a collector over plain http": {
    file: "src/http/traces/trace-settings.ts",
    within: "headersOf",
    find: "if ($isPlainHttp($endpoint.href))",
    replace: "if ($endpoint.href === '')",
    test: "http/traces/traces.test.ts",
    title:
      "the address of a collector > may be plain http in a network of one's own, but not where a header goes with it that is a secret",
  },
  "spans wait without bound for a collector that does not take them": {
    file: "src/http/traces/exporter.ts",
    within: "SpanExporter.add",
    find: "if (this.#isClosed || this.#waiting.length >= $mostWaiting)",
    replace: "if (this.#isClosed)",
    test: "http/traces/traces.test.ts",
    title: "spans > wait in bounded number, and what finds no room is counted",
  },
};

import { isExact, minus, plus } from "./exact.ts";
import type { Exact } from "./exact.ts";
import type { Row, StatementShape } from "./shape.ts";

/**
 * The steps from what happened in a period to what the CRM dates in it, in their order. The last one is computed from
 * the orders of the CRM's dates alone, and not from those before it.
 */
export const bridgeSteps = [
  "happened in the period",
  "less: dated before it by the CRM",
  "less: dated after it by the CRM",
  "more: dated in it, happened before it",
  "more: dated in it, happened after it",
  "by the dates of the CRM",
] as const;
export type BridgeStep = (typeof bridgeSteps)[number];

/** What ties the two views of a period: by what happened in it, and by the dates of the CRM. */
export const bridgeStatement: StatementShape = {
  kind: "bridge",
  version: 1,
  title: "Bridge",
  about:
    "From what happened in the period to what the CRM dates in it. Orders that were placed or found are counted by " +
    "either; everything else by when it happened, in both.",
  parts: [
    {
      name: "bridge",
      title: "Bridge",
      about:
        "The steps for each currency; what has no amount is a currency of its own, empty. The last step is computed " +
        "by itself, and `agrees` says whether the steps before it come to the same.",
      columns: [
        {
          name: "currency",
          type: "text",
          title: "Currency",
          about: "Currency (ISO 4217); empty for lines without an amount.",
        },
        {
          name: "step",
          type: "text",
          title: "Step",
          about: `One of: ${bridgeSteps.map((step) => `\`${step}\``).join(", ")}.`,
        },
        { name: "lines", type: "integer", title: "Lines", about: "How many lines it is about." },
        { name: "units", type: "integer", title: "Units", about: "Their units; below 0 where they are taken off." },
        { name: "nodes", type: "integer", title: "Nodes", about: "Their nodes; below 0 where they are taken off." },
        {
          name: "amount",
          type: "money",
          title: "Amount",
          about: "Their amounts; below 0 where they are taken off.",
          currencyIn: "currency",
        },
        {
          name: "verdict",
          type: "text",
          title: "Verdict",
          about: "Of the last step: `agrees` where the steps before it come to the same, else `differs`.",
        },
      ],
    },
  ],
};

interface Sums {
  lines: Exact;
  units: Exact;
  nodes: Exact;
  amount: Exact;
}

/** What the steps come to, for each currency, as lines of orders are added to them. */
export class BridgeSums {
  readonly #sums = new Map<string, Map<BridgeStep, Sums>>();

  /** Adds a line of the statement of orders to a step, or takes it off (`sign` −1). */
  add(step: BridgeStep, line: Row, sign: 1 | -1): void {
    const currency = line["currency"];
    const key = typeof currency === "string" ? currency : "";
    const steps = this.#sums.get(key) ?? new Map<BridgeStep, Sums>();
    this.#sums.set(key, steps);
    const before = steps.get(step) ?? { lines: 0, units: 0, nodes: 0, amount: 0 };
    const moved = (value: Exact, by: Exact): Exact => (sign === 1 ? plus(value, by) : minus(value, by));
    steps.set(step, {
      lines: moved(before.lines, 1),
      units: moved(before.units, numberIn(line, "units")),
      nodes: moved(before.nodes, numberIn(line, "nodes")),
      amount: moved(before.amount, numberIn(line, "amount")),
    });
  }

  /** The rows of the statement: currencies in their order, and all steps of each. */
  *rows(): Generator<Row, void, void> {
    for (const [currency, steps] of [...this.#sums].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const total: Sums = { lines: 0, units: 0, nodes: 0, amount: 0 };
      for (const step of bridgeSteps) {
        const sums = steps.get(step) ?? { lines: 0, units: 0, nodes: 0, amount: 0 };
        const isLast = step === bridgeSteps.at(-1);
        if (!isLast) for (const name of measures) total[name] = plus(total[name], sums[name]);
        const agrees = measures.every((name) => total[name] === sums[name]);
        yield {
          currency: currency === "" ? null : currency,
          step,
          lines: sums.lines,
          units: sums.units,
          nodes: sums.nodes,
          amount: currency === "" ? null : sums.amount,
          verdict: isLast ? (agrees ? "agrees" : "differs") : null,
        };
      }
    }
  }
}

const measures = ["lines", "units", "nodes", "amount"] as const;

function numberIn(line: Row, name: string): Exact {
  const value = line[name];
  return isExact(value) ? value : 0;
}

import { assumptions, type Assumption } from "../../src/contract/assumptions.ts";
import { code, page, table } from "./markdown.ts";

function decidedBy({ decidedBy }: Assumption): string {
  return decidedBy === "fixed" ? "the program" : decidedBy.setting.replaceAll(/[\w]+(?:\.\w+)+/gu, code);
}

/** What the contracts leave open, row by row. */
export function assumptionsPage(): string {
  return page([
    "# Assumptions",
    "The contracts of the services leave questions open. An assumption is about the services and can be contradicted " +
      "by them; a choice is ours. If a row has no default, its setting is required before the first call that needs " +
      "it: `crm-sync check` names row, key and choices, and only that call is blocked.",
    "`crm-sync assumptions` lists what contradicted an assumption. A contradiction stops the work in the " +
      "last column, and nothing else, until a person accepts it. If no answer can contradict a row, the " +
      "table says why.",
    table(
      ["Row", "Kind", "Question", "Default", "Decided by", "Required before", "Contradicted by", "Which stops"],
      assumptions.map((row) => [
        row.id,
        row.kind,
        row.question,
        row.default,
        decidedBy(row),
        row.requiredBefore.join(", "),
        ...(row.kind === "choice" ? ["", ""] : [row.contradictedBy, row.stops]),
      ]),
    ),
  ]);
}

import { documentedCodes, meaningOf } from "../../src/contract/codes.ts";
import { endpointIds, endpoints } from "../../src/contract/endpoints.ts";
import { ReadFailure, type ReadFailureKind } from "../../src/http/call.ts";
import { nextForDeferral, nextForQuarantine } from "../../src/report/next-steps.ts";
import { code, page, sentence, table } from "./markdown.ts";
import { otherMeanings, otherSteps } from "./other-meanings.ts";
import { saidCodes, type SaidCode } from "./said-codes.ts";

/** Where a code is met, in the order of the page. */
const groups = {
  commands: {
    title: "Commands",
    text: "A command that failed prints the message and the next step. With `--json` the code too.",
  },
  configuration: { title: "Configuration", text: "`crm-sync check` and every start print these. They end with 78." },
  sources: { title: "Sources", text: "A source was not read, or not to its end. The run ends with 7." },
  services: { title: "Calls that gave nothing", text: "A reading call failed. The run ends with 7." },
  waiting: {
    title: "Waiting",
    text:
      "`status`, `explain` and the pages show these for a record or an operation that waits. `rejected.CODE` is a " +
      "[code of a service](#services); `order.CODE` is a code of the [quarantine](#quarantine), for an order whose " +
      "lines cannot be sent.",
  },
  quarantine: {
    title: "Quarantine",
    text: "`crm-sync quarantine list` shows these for a record that cannot be used. `bad-FIELD` names the field.",
  },
  pages: { title: "Pages", text: "The pages answer with these." },
} as const;

export type Group = keyof typeof groups;

/** A code with what it says and the next step; either may be unknown. */
export interface ListedCode {
  code: string;
  meaning: string | undefined;
  hint: string | undefined;
}

const readFailures: Readonly<Record<ReadFailureKind, true>> = {
  aborted: true,
  "circuit-open": true,
  code: true,
  incomplete: true,
  "no-turn": true,
  "odd-answer": true,
  "out-of-service": true,
  token: true,
  transport: true,
};

const inMessage = "The message says what to do.";

const isGroup = (text: string): text is Group => Object.hasOwn(groups, text);
export const groupNames: readonly Group[] = Object.keys(groups).filter(isGroup);

/** Where a code is met, by its form and by what stands beside it; undefined for one that is no code of the program. */
function groupOf({ code: one, path, beside }: SaidCode): Group | undefined {
  const has = (...names: string[]): boolean => names.some((name) => beside.has(name));
  if (path.startsWith("src/sandbox/") && !has("cure")) return undefined;
  if (has("text") && has("cure") && path.startsWith("src/web/")) return "pages";
  if (has("firstBad") || one === "custom") return undefined;
  if (one.startsWith("config.")) return "configuration";
  if (one.startsWith("source.")) return "sources";
  if (has("cure") && has("message", "why", "what")) return "commands";
  if (has("again") || one === "defect") return "waiting";
  if (one.includes(".")) return has("reason", "why") ? "waiting" : has("what", "message") ? "commands" : undefined;
  if (has("expected", "found")) return "quarantine";
  return has("message") && !path.startsWith("src/contract/") ? "quarantine" : undefined;
}

/** Every code that the program can print, by where it is met, in the order of the codes. */
export function listedCodes(): ReadonlyMap<Group, readonly ListedCode[]> {
  const byGroup = Map.groupBy(saidCodes(), groupOf);
  return new Map(
    groupNames.map((group) => {
      const byCode = Map.groupBy(byGroup.get(group) ?? [], (said) => said.code);
      const listed = [...byCode].map(([one, said]) => listedOf(group, one, said));
      const others = Object.keys(otherMeanings[group] ?? {})
        .filter((one) => !byCode.has(one))
        .map((one) => listedOf(group, one, []));
      const calls = group === "services" ? Object.keys(readFailures).filter(isReadFailure).map(readFailureOf) : [];
      return [group, [...listed, ...others, ...calls].sort((one, other) => (one.code < other.code ? -1 : 1))];
    }),
  );
}

function isReadFailure(text: string): text is ReadFailureKind {
  return Object.hasOwn(readFailures, text);
}

function readFailureOf(kind: ReadFailureKind): ListedCode {
  const failure = new ReadFailure({ endpoint: "E3", kind, reason: "" });
  return { code: failure.code, meaning: failure.message.replace(/^E3 (.*): $/u, "The call $1"), hint: failure.cure };
}

function listedOf(group: Group, one: string, said: readonly SaidCode[]): ListedCode {
  const meaning =
    otherMeanings[group]?.[one] ??
    said.map(({ message }) => message).find((message) => message !== undefined) ??
    (group === "quarantine" ? expectedOf(said) : undefined);
  const hint = said.map((item) => item.hint).find((text) => text !== undefined);
  if (group === "waiting") return { code: one, meaning, hint: nextForDeferral(one) };
  const next = group === "quarantine" ? nextForQuarantine({ id: "ID", state: "open", code: one }) : hint;
  return { code: one, meaning, hint: next };
}

function expectedOf(said: readonly SaidCode[]): string | undefined {
  const expected = said.map(({ hint }) => hint).find((text) => text !== undefined);
  return expected === undefined ? undefined : `expected: ${expected}`;
}

/** A text as a sentence of the page. */
function shown(written: string): string {
  const text = written.replaceAll(/…(?: ?…)+/gu, "…");
  return sentence(text.startsWith("crm-sync") ? text : text.charAt(0).toUpperCase() + text.slice(1));
}

/** The codes of both services, with the calls that can be answered with each. */
function serviceRows(): string[][] {
  return documentedCodes.flatMap((one) => {
    const calls = endpointIds.filter((id) => endpoints[id].codes.includes(one));
    const byCure = Map.groupBy(calls, (id) => meaningOf(one, id).cure);
    return [...byCure].map(([cure, ids]) => {
      const { meaning, effect } = meaningOf(one, ids[0] ?? "E1");
      return [code(one), ids.join(", "), shown(meaning), effect, shown(cure)];
    });
  });
}

/** Every code with its meaning and the next step. */
export function codesPage(): string {
  const listed = listedCodes();
  return page([
    "# Codes",
    "A code is a stable word for programs; the text beside it may change. An ellipsis is a value. E1–E9 are the " +
      "calls of the order service, M1–M10 those of the member-center " +
      "([what each does](../explanation/nothing-sent-twice.md#settling); E3, E8 and M5–M8 only read), and A1–A43 are " +
      "[assumptions](assumptions.md) about both. An asset is one unit of a licence; its asset number is unique. A lock " +
      "is an asset that can be disabled, or lent to a person (a loan). Other lists: [exit codes](exit-codes.md), [kinds of alerts](alerts.md), " +
      "[findings in the audit log](audit/format.md#findings).",
    ...groupNames.flatMap((group) => [
      `## ${groups[group].title}`,
      groups[group].text,
      table(
        ["Code", "Meaning", "Next step"],
        (listed.get(group) ?? []).map((one) => [
          code(one.code),
          shown(one.meaning ?? ""),
          shown(one.hint ?? otherSteps[one.code] ?? inMessage),
        ]),
      ),
    ]),
    "## Services",
    "The business codes of both services. Effect: `rejected` (nothing was changed), `unknown` (settled by reading), " +
      "`settle` (may be there already), `partial`, `already-done`, `refresh-token`.",
    table(["Code", "Calls", "Meaning", "Effect", "Next step"], serviceRows()),
  ]);
}

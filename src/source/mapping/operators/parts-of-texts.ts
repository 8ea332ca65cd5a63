import type { Json } from "../../../base/canonical-json.ts";
import { ofText } from "../coerce.ts";
import {
  mistake,
  refuse,
  type Evaluate,
  type ExpressionCompiler,
  type KeyPath,
  type MappingContext,
} from "../context.ts";
import { compilePattern, searchable } from "../pattern.ts";
import { beside, isText, textRefusals, type Operator } from "./operator.ts";

/** Longest result, in UTF-16 code units. */
const mostResult = 1_000_000;
const mostOption = 1_000;

const tooLong = { "too-long": "the text is longer than 10,000 characters, or becomes longer than 1,000,000" };
const tooLongToSearch = { "too-long": "the text is longer than 10,000 characters" };
const patternOption =
  "A regular expression of RE2, which takes time in proportion to the text: no backreferences, no look-arounds, at " +
  "most 500 characters, and nothing repeated more than 200 times. `(?i)` in front: small and capital letters are " +
  "the same.";

const nonEmpty = (text: string | undefined): string | undefined => (text === "" ? undefined : text);

function inserted(spec: Json | undefined, at: KeyPath, context: MappingContext): string {
  if (isText(spec) && spec.length <= mostOption && spec.isWellFormed() && !spec.includes("\0")) return spec;
  mistake(context, at, `expected text of at most ${mostOption} characters`);
  return "";
}

export const replace: Operator = {
  reference: {
    form: "{replace: EXPRESSION, pattern: PATTERN, with: TEXT}",
    does:
      "Replaces each match of a pattern with a text. In `with`, `$1` and `$<name>` are its groups, `$$` stands for " +
      "the character. Where no text is left, it gives nothing.",
    options: {
      pattern: `${patternOption} Required.`,
      with: "The text to put in its place; nothing by default.",
    },
    refuses: { ...textRefusals, ...tooLong },
    examples: [
      {
        expression: { replace: "name", pattern: " GmbH$" },
        record: { name: "Nordwind GmbH" },
        gives: "Nordwind",
      },
      {
        expression: { replace: "code", pattern: "^([A-Z]+)-0*([0-9]+)$", with: "$2/$1" },
        record: { code: "DE-0042" },
        gives: "42/DE",
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const instead = spec["with"] === undefined ? "" : inserted(spec["with"], beside(at, "with"), context);
    return withPattern(operand, spec["pattern"], at, compiler, (pattern) => {
      const unknown = unknownGroup(instead, pattern.groupCount(), pattern.namedGroups());
      if (unknown !== undefined)
        mistake(context, beside(at, "with"), `the pattern has no group ${unknown}; write $$ for the character $`);
      return (text) => {
        const groups = instead.includes("$") ? instead.length * text.length : 0;
        if ((text.length + 1) * instead.length + text.length + groups > mostResult)
          return refuse(context, "too-long", text, `a result of at most ${mostResult} characters`);
        return nonEmpty(pattern.matcher(text).replaceAll(instead));
      };
    });
  },
};

function unknownGroup(text: string, count: number, names: Readonly<Record<string, number>>): string | undefined {
  for (const [piece, number, name] of text.matchAll(/\$(?:\$|(\d+)|<([^>]*)>|)/g)) {
    if (piece === "$$") continue;
    if (number !== undefined && Number(number) <= count) continue;
    if (name !== undefined && Object.hasOwn(names, name)) continue;
    return piece;
  }
  return undefined;
}

export const extract: Operator = {
  reference: {
    form: "{extract: EXPRESSION, pattern: PATTERN}",
    does:
      "The first part of the text that matches a pattern: its first group, where it has one. Gives nothing where " +
      "nothing matches, or the group is empty.",
    options: {
      pattern: `${patternOption} Required.`,
    },
    refuses: { ...textRefusals, ...tooLongToSearch },
    examples: [
      { expression: { extract: "remark", pattern: "PO ([0-9]+)" }, record: { remark: "see PO 4711!" }, gives: "4711" },
      { expression: { extract: "remark", pattern: "PO ([0-9]+)" }, record: { remark: "none" } },
    ],
  },
  compile(operand, spec, at, compiler) {
    return withPattern(operand, spec["pattern"], at, compiler, (pattern) => {
      const group = Math.min(1, pattern.groupCount());
      return (text) => {
        const matcher = pattern.matcher(text);
        return matcher.find() ? nonEmpty(matcher.group(group) ?? undefined) : undefined;
      };
    });
  },
};

type Pattern = NonNullable<ReturnType<typeof compilePattern>>;

function withPattern(
  operand: Json,
  written: Json | undefined,
  at: KeyPath,
  compiler: ExpressionCompiler,
  use: (pattern: Pattern) => (text: string) => Json | undefined,
): Evaluate {
  const { context } = compiler;
  const inner = ofText(operand, at, compiler);
  const pattern = compilePattern(written, beside(at, "pattern"), context);
  if (pattern === undefined) return () => undefined;
  const answer = use(pattern);
  return (scope) => {
    const searched = searchable(inner(scope), context);
    return searched === undefined ? undefined : answer(searched);
  };
}

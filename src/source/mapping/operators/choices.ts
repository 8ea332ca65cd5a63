// oxlint-disable unicorn/no-thenable -- `then` is a key of the mapping
import { isJsonObject } from "../../../base/canonical-json.ts";
import { compileCondition } from "../condition.ts";
import { mistake, refuse } from "../context.ts";
import { anyOf, kindsOfConstant, plain } from "../kinds.ts";
import { asText, beside, each, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { aCondition, anyExpression, constant, listOf, plainExpression } from "../written.ts";

export const first: Operator = {
  reference: {
    form: "{first: [EXPRESSION, …]}",
    does: "The value of the first expression that has one.",
    takes: "any values",
    gives: "the value, unchanged",
    options: {},
    refuses: {},
    examples: [
      { expression: { first: ["mobile", "phone"] }, record: { mobile: "", phone: "030 1234" }, gives: "030 1234" },
    ],
  },
  written: { operand: listOf(anyExpression) },
  gives: ({ first: parts }, kindsOf) => (Array.isArray(parts) ? anyOf(parts.map(kindsOf)) : undefined),
  compile(operand, _spec, at, compiler) {
    const choices = each(operand, at, compiler);
    return (scope) => {
      for (const choice of choices) {
        const found = choice(scope);
        if (found !== undefined || compiler.context.fault !== undefined) return found;
      }
      return undefined;
    };
  },
};

export const map: Operator = {
  reference: {
    form: "{map: EXPRESSION, values: {WORD: CONSTANT, …}, default: CONSTANT}",
    does:
      "Puts other words for those of the source. `default` is " +
      "for a word that is not listed, and for no word at all. True and false are the words `true` and `false`.",
    takes: "text, a number, or true and false",
    gives: "the constant",
    options: { values: "The words of the source, each with its new value. Required." },
    refuses: {
      ...textRefusals,
      "wrong-type": "the value is neither text nor a number, nor true or false",
      "unknown-word": "the word is not listed, and there is no `default`",
    },
    examples: [
      {
        expression: { map: "type", values: { P: "personal", C: "company" } },
        record: { type: "C" },
        gives: "company",
      },
      {
        expression: { map: "company", values: { true: "company", false: "personal" } },
        record: { company: false },
        gives: "personal",
      },
      { expression: { map: "type", values: { P: "personal" } }, record: { type: "Q" }, refused: "unknown-word" },
    ],
  },
  written: {
    operand: plainExpression,
    options: { values: { form: "entries", of: constant, least: 0 } },
    required: ["values"],
  },
  gives: ({ values }) => anyOf(isJsonObject(values) ? Object.values(values).map(kindsOfConstant) : []),
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = compiler.expression(operand, at, plain);
    const { values, default: fallback } = spec;
    if (!isJsonObject(values)) {
      return mistake(context, beside(at, "values"), "expected an object: found text → value");
    }
    const table = new Map(Object.entries(values));
    const expected = `one of ${[...table.keys()].join(", ")}`;
    return (scope) => {
      const found = inner(scope);
      const text = typeof found === "boolean" ? String(found) : asText(found, context);
      if (text === undefined) return undefined;
      return table.get(text) ?? fallback ?? refuse(context, "unknown-word", found, expected);
    };
  },
};

export const when: Operator = {
  reference: {
    form: "{when: CONDITION, then: EXPRESSION, else: EXPRESSION}",
    does: "One expression where a condition holds, another one where it does not.",
    takes: "a condition",
    gives: "what the expression gives",
    options: {
      then: "The expression where the condition holds. Required.",
      else: "The expression where it does not; nothing by default.",
    },
    refuses: {},
    examples: [
      {
        expression: { when: { path: "country", in: ["DE", "AT"] }, then: { value: "B1" }, else: { value: "B2" } },
        record: { country: "AT" },
        gives: "B1",
      },
      { expression: { when: { path: "company", present: true }, then: "company" }, record: { company: "" } },
    ],
  },
  written: {
    operand: aCondition,
    options: { then: anyExpression, else: anyExpression },
    required: ["then"],
  },
  gives: ({ then: yes, else: no }, kindsOf) => anyOf([kindsOf(yes), no === undefined ? [] : kindsOf(no)]),
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const holds = compileCondition(operand, at, compiler);
    const { then: yes, else: no } = spec;
    const onTrue = compiler.expression(yes, beside(at, "then"));
    const onFalse = no === undefined ? () => undefined : compiler.expression(no, beside(at, "else"));
    return (scope) => {
      const chosen = holds(scope) ? onTrue : onFalse;
      return context.fault === undefined ? chosen(scope) : undefined;
    };
  },
};

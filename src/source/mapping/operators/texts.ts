import anyAscii from "any-ascii";
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { sha256 } from "../../../base/canonical-json.ts";
import { ofText, textOf } from "../coerce.ts";
import { mistake, refuse, type Evaluate } from "../context.ts";
import { searchable } from "../pattern.ts";
import { beside, each, isText, option, textRefusals, type ExpressionExample, type Operator } from "./operator.ts";

function onText(name: string, does: string, examples: ExpressionExample[], change: (text: string) => string): Operator {
  return {
    reference: {
      form: `{${name}: EXPRESSION}`,
      does: `${does} Where no text is left, it gives nothing.`,
      refuses: textRefusals,
      examples,
    },
    compile(operand, _spec, at, compiler) {
      const inner = ofText(operand, at, compiler);
      return (scope) => {
        const text = inner(scope);
        if (text === undefined) return undefined;
        const changed = change(text);
        return changed === "" ? undefined : changed;
      };
    },
  };
}

export const upper = onText(
  "upper",
  "The text in capital letters.",
  [
    { expression: { upper: "country" }, record: { country: "de" }, gives: "DE" },
    { expression: { upper: "country" }, record: { country: ["de"] }, refused: "wrong-type" },
  ],
  (text) => text.toUpperCase(),
);

export const lower = onText(
  "lower",
  "The text in small letters.",
  [{ expression: { lower: "mail" }, record: { mail: "Ann@Example.COM" }, gives: "ann@example.com" }],
  (text) => text.toLowerCase(),
);

export const trim = onText(
  "trim",
  "The text without white space at its ends.",
  [{ expression: { trim: "name" }, record: { name: "  Ann Lee " }, gives: "Ann Lee" }],
  (text) => text.trim(),
);

export const template: Operator = {
  reference: {
    form: '{template: "TEXT {PATH} TEXT"}',
    does:
      "Puts text together. `{path}` becomes the value at the path; `{{` and `}}` are the characters themselves. " +
      "Gives nothing as soon as one of the paths finds nothing.",
    refuses: textRefusals,
    examples: [
      { expression: { template: "A-{orderID}/{line}" }, record: { orderID: 10248, line: "1" }, gives: "A-10248/1" },
      { expression: { template: "A-{orderID}/{line}" }, record: { orderID: 10248 } },
      { expression: { template: "{{{code}}}" }, record: { code: "x" }, gives: "{x}" },
    ],
  },
  compile(operand, _spec, at, compiler) {
    if (!isText(operand)) return mistake(compiler.context, at, 'expected text such as "A-{orderID}"');
    const parts: (string | Evaluate)[] = [];
    for (const match of operand.matchAll(/\{\{|\}\}|\{([^{}]*)\}|[^{}]+|[{}]/g)) {
      const [piece, name] = match;
      if (name !== undefined) parts.push(compiler.expression(name, at));
      else if (piece === "{" || piece === "}") {
        return mistake(
          compiler.context,
          at,
          `found a single ${piece} in the template; expected {path}, or ${piece}${piece} for the character`,
        );
      } else parts.push(piece === "{{" ? "{" : piece === "}}" ? "}" : piece);
    }
    return (scope) => {
      let built = "";
      for (const part of parts) {
        const found = typeof part === "string" ? part : textOf(part(scope), compiler.context);
        if (found === undefined) return undefined;
        built += found;
      }
      return built;
    };
  },
};

const mostTogether = 1_000_000;

export const concat: Operator = {
  reference: {
    form: "{concat: [EXPRESSION, …] or LIST, separator: TEXT}",
    does:
      "Joins the texts that are there and leaves out those that are not: of expressions, or the elements of a list. " +
      "Gives nothing where none is there.",
    options: { separator: "The separator; nothing by default." },
    refuses: { ...textRefusals, "too-long": "the text is longer than 1,000,000 characters" },
    examples: [
      {
        expression: { concat: ["street", "zip", "city"], separator: ", " },
        record: { street: "Main Street 1", zip: null, city: "Bonn" },
        gives: "Main Street 1, Bonn",
      },
      { expression: { concat: "tags", separator: " " }, record: { tags: ["a", 1, null] }, gives: "a 1" },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const separator = option(spec, "separator", at, context) ?? "";
    const parts = Array.isArray(operand) ? each(operand, at, compiler) : undefined;
    const list = parts === undefined ? compiler.elements(operand, at, false) : undefined;
    return (scope) => {
      const texts: string[] = [];
      let length = 0;
      for (const found of parts?.map((part) => part(scope)) ?? list?.read(scope) ?? []) {
        const text = textOf(found, context);
        if (text === undefined) continue;
        texts.push(text);
        length += text.length + separator.length;
        if (length > mostTogether)
          return refuse(context, "too-long", text, `a text of at most ${mostTogether} characters`);
      }
      return texts.length === 0 ? undefined : texts.join(separator);
    };
  },
};

export const split: Operator = {
  reference: {
    form: "{split: EXPRESSION, separator: TEXT}",
    does:
      "Cuts a text into a list, trims the pieces and leaves out empty pieces and those that mean nothing " +
      "(`nothing`).",
    options: { separator: "Where the text is cut; a comma by default." },
    refuses: { ...textRefusals, "too-many": "the text has more than 50,000 pieces" },
    examples: [
      { expression: { split: "numbers" }, record: { numbers: "8001, 8002,," }, gives: ["8001", "8002"] },
      { expression: { split: "numbers", separator: ";" }, record: { numbers: "8001;8002" }, gives: ["8001", "8002"] },
    ],
  },
  compile(operand, spec, at, compiler) {
    const inner = ofText(operand, at, compiler);
    const separator = option(spec, "separator", at, compiler.context) ?? ",";
    return (scope) => {
      const found = inner(scope);
      if (found === undefined) return undefined;
      const pieces = found.split(separator, 50_001).map((piece) => piece.trim());
      if (pieces.length > 50_000) return refuse(compiler.context, "too-many", found, "at most 50000 pieces");
      return pieces.filter((piece) => piece !== "" && !compiler.context.nullTexts.has(piece));
    };
  },
};

const tooLong = { "too-long": "the text is longer than 10,000 characters" };
export const phone: Operator = {
  reference: {
    form: "{phone: EXPRESSION, country: COUNTRY}",
    does:
      "A phone number in the form E.164, by the numbering plans of the countries (libphonenumber). An " +
      "extension is left out.",
    options: {
      country:
        "The country of numbers that do not begin with + or 00: two capital letters such as DE, or an expression " +
        "that finds them. Without it such numbers are refused.",
    },
    refuses: {
      ...textRefusals,
      "not-a-phone-number": "no number that the numbering plan of its country has, or one without a country",
    },
    examples: [
      { expression: { phone: "phone", country: "DE" }, record: { phone: "(030) 1234-5678" }, gives: "+493012345678" },
      {
        expression: { phone: "phone", country: { path: "country" } },
        record: { phone: "01 40 20 50 50", country: "FR" },
        gives: "+33140205050",
      },
      { expression: { phone: "phone" }, record: { phone: "030 12345678" }, refused: "not-a-phone-number" },
      { expression: { phone: "phone", country: "DE" }, record: { phone: "call Ann" }, refused: "not-a-phone-number" },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    const { country } = spec;
    const where = beside(at, "country");
    if (isText(country) && !isSupportedCountry(country))
      return mistake(context, where, `found ${JSON.stringify(country)}; expected a country such as DE, or {path: …}`);
    const countryOf: Evaluate =
      country === undefined || isText(country) ? () => country : compiler.expression(country, where);
    return (scope) => {
      const text = inner(scope);
      if (text === undefined) return undefined;
      const own = countryOf(scope);
      const known = isText(own) && isSupportedCountry(own) ? own : undefined;
      const number = text.length > 100 ? undefined : parsePhoneNumberFromString(international(text), known);
      return number?.isValid() === true
        ? number.number
        : refuse(context, "not-a-phone-number", text, "a phone number that exists in its country");
    };
  },
};

function international(text: string): string {
  return text.replace(/^\s*00(?=[\s()./-]*[1-9])/, "+");
}

export const login: Operator = {
  reference: {
    form: "{login: EXPRESSION}",
    does:
      "The name before the @ of an e-mail address, in small letters and digits alone, as a `userName` has to be. Two " +
      "addresses can give the same: ann.lee@ and annlee@.",
    refuses: {
      ...textRefusals,
      ...tooLong,
      "not-an-address": "no e-mail address, or one without a letter or digit before the @",
    },
    examples: [
      { expression: { login: "mail" }, record: { mail: "Zoë.Lee+crm@example.com" }, gives: "zoeleecrm" },
      { expression: { login: "mail" }, record: { mail: "Ann Lee" }, refused: "not-an-address" },
    ],
  },
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    return (scope) => {
      const text = inner(scope);
      const address = text === undefined ? undefined : searchable(text, context)?.trim().normalize("NFC").toLowerCase();
      if (address === undefined) return undefined;
      const parts = /^([^\s@]+)@[^\s@]+$/.exec(address);
      const spelling = anyAscii(parts?.[1] ?? "")
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, "");
      return spelling === "" ? refuse(context, "not-an-address", text, "an e-mail address") : spelling;
    };
  },
};

/** A shorter salt could be found by trial. */
const shortestSalt = 16;

export const hash: Operator = {
  reference: {
    form: "{hash: EXPRESSION, salt: TEXT}",
    does:
      "An id instead of a login, an e-mail address or a phone number: 32 hexadecimal digits of SHA-256 over the salt " +
      "and the text. Ids appear in messages, logs and the audit log, and an erasure keeps them.",
    options: {
      salt:
        "Text of at least 16 characters, without which nobody finds the text by trying. Every mapping that gives or " +
        "names the same ids has the same one. It never changes: another one makes all records new. Required.",
    },
    refuses: { ...textRefusals },
    examples: [
      {
        expression: { hash: { lower: "mail" }, salt: "d1f0c2b7a6954e38" },
        record: { mail: "Ann.Lee@example.com" },
        gives: "b5b94852707b6b94a8a7c0808409918d",
      },
    ],
  },
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    const salt = option(spec, "salt", at, context) ?? "";
    if (salt.length < shortestSalt)
      return mistake(context, beside(at, "salt"), `expected a text of at least ${shortestSalt} characters`);
    return (scope) => {
      const text = inner(scope);
      return text === undefined ? undefined : sha256(`${salt}\u0000${text}`).slice(0, 32);
    };
  },
};

import anyAscii from "any-ascii";
import { isSupportedCountry, parsePhoneNumberFromString } from "libphonenumber-js/max";
import { sha256 } from "../../../base/canonical-json.ts";
import { mistake, refuse } from "../context.ts";
import type { Evaluate } from "../context.ts";
import { searchable } from "../pattern.ts";
import { asText, beside, isText, ofText, option, textRefusals } from "./operator.ts";
import type { Operator } from "./operator.ts";
import { lettersOf, writtenLetters } from "./parts-of-texts.ts";
import { objectExpressionOf, textExpression } from "../written.ts";

const tooLong = { "too-long": "the text is longer than 10,000 characters" };
const letters = "Letters that are written otherwise than the library writes them: `{ä: ae, Ä: Ae}`.";

export const digits: Operator = {
  reference: {
    form: "{digits: EXPRESSION}",
    does: "The digits 0 to 9 of a text, without all else. Gives nothing if the text has no digit.",
    takes: "text, or a number as the source writes it",
    gives: "text",
    options: {},
    refuses: { ...textRefusals, ...tooLong },
    examples: [{ expression: { digits: "vat" }, record: { vat: "DE 123.456-789" }, gives: "123456789" }],
  },
  written: { operand: textExpression },
  gives: ["text"],
  compile(operand, _spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    return (scope) => {
      const text = asText(inner(scope), context);
      const searched = text === undefined ? undefined : searchable(text, context);
      const found = searched?.replaceAll(/[^0-9]/g, "");
      return found === "" ? undefined : found;
    };
  },
};

export const phone: Operator = {
  reference: {
    form: "{phone: EXPRESSION, country: COUNTRY}",
    does:
      "A phone number in the form E.164, by the numbering plans of the countries (libphonenumber). An " +
      "extension is left out.",
    takes: "text, or a number as the source writes it",
    gives: "text, such as +493012345678",
    options: {
      country:
        "The country of numbers that do not begin with + or 00: two capital letters such as DE, or an expression " +
        "that " +
        "finds them. Without it such numbers are refused.",
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
  written: {
    operand: textExpression,
    options: {
      country: { form: "either", of: [{ form: "text", pattern: "^[A-Z]{2}$" }, objectExpressionOf(["text"])] },
    },
  },
  gives: ["text"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    const { country } = spec;
    const where = beside(at, "country");
    if (isText(country) && !isSupportedCountry(country))
      return mistake(context, where, `found ${JSON.stringify(country)}; expected a country such as DE, or {path: …}`);
    const countryOf: Evaluate =
      country === undefined || isText(country) ? () => country : compiler.expression(country, where, ["text"]);
    return (scope) => {
      const text = asText(inner(scope), context);
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

/** Where a number begins with the two zeros that stand for +. */
function international(text: string): string {
  return text.replace(/^\s*00(?=[\s()./-]*[1-9])/, "+");
}

export const login: Operator = {
  reference: {
    form: "{login: EXPRESSION, letters: {LETTER: TEXT, …}}",
    does:
      "The name before the @ of an e-mail address, in small letters and digits alone, as a `userName` has to be. Two " +
      "addresses can give the same: ann.lee@ and annlee@.",
    takes: "text",
    gives: "text",
    options: { letters },
    refuses: {
      ...textRefusals,
      ...tooLong,
      "not-an-address": "no e-mail address, or one without a letter or digit before the @",
    },
    examples: [
      { expression: { login: "mail" }, record: { mail: "Zoë.Lee+crm@example.com" }, gives: "zoeleecrm" },
      {
        expression: { login: "mail", letters: { ü: "ue" } },
        record: { mail: "j.müller@example.com" },
        gives: "jmueller",
      },
      { expression: { login: "mail" }, record: { mail: "Ann Lee" }, refused: "not-an-address" },
    ],
  },
  written: { operand: textExpression, options: { letters: writtenLetters } },
  gives: ["text"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    const own = lettersOf(spec["letters"], beside(at, "letters"), context);
    return (scope) => {
      const text = asText(inner(scope), context);
      const address = text === undefined ? undefined : searchable(text, context)?.trim().normalize("NFC").toLowerCase();
      if (address === undefined) return undefined;
      const parts = /^([^\s@]+)@[^\s@]+$/.exec(address);
      let name = parts?.[1] ?? "";
      for (const [letter, instead] of own) name = name.replaceAll(letter, instead);
      const spelling = anyAscii(name)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]/g, "");
      return spelling === "" ? refuse(context, "not-an-address", text, "an e-mail address") : spelling;
    };
  },
};

/** A shorter one could be tried. */
const shortestSalt = 16;

export const hash: Operator = {
  reference: {
    form: "{hash: EXPRESSION, salt: TEXT}",
    does:
      "An id instead of a login, an e-mail address or a phone number: 32 hexadecimal digits of SHA-256 over the salt " +
      "and the text. Ids appear in messages, logs and the audit log, and an erasure keeps them.",
    takes: "text, or a number as the source writes it",
    gives: "text of 32 characters",
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
  written: { operand: textExpression, options: { salt: { form: "text", least: shortestSalt } }, required: ["salt"] },
  gives: ["text"],
  compile(operand, spec, at, compiler) {
    const { context } = compiler;
    const inner = ofText(operand, at, compiler);
    const salt = option(spec, "salt", at, context) ?? "";
    if (salt.length < shortestSalt)
      return mistake(context, beside(at, "salt"), `expected a text of at least ${shortestSalt} characters`);
    return (scope) => {
      const text = asText(inner(scope), context);
      return text === undefined ? undefined : sha256(`${salt}\u0000${text}`).slice(0, 32);
    };
  },
};

import { expect, it } from "vitest";
import { toldCode, toldWords } from "../../src/base/told-words.ts";

const ours = new Set(["orders", "products", "limitEndDate", "Account"]);

it.each([
  ["orders[0].products[12].limitEndDate: expected string", "orders[0].products[12].limitEndDate: expected string"],
  ["Member Anna Schmidt (13800138000) already exists", "Member … already exists"],
  ["No such column 'Foo' on Account", "No such column … on Account"],
  ["anna.schmidt@example.com is not allowed", "… is not allowed"],
  ["mobile 138 0013 8000 is taken", "mobile … is taken"],
  ["call 555-0199", "call …"],
  ["password length must be between 8 and 20", "password length must be between 8 and 20"],
  ["账号王芳已存在", ""],
  ["Anna Schmidt", ""],
  ["", ""],
])("%s", (said, told) => {
  expect(toldWords(said, ours)).toBe(told);
});

it("tells of a code no numbers that stand beside each other, as those of a phone do", () => {
  expect(toldCode("invalid_phone_079-123-45-67")).toBeUndefined();
  expect(toldCode("invalid_field_12")).toBe("invalid_field_12");
});

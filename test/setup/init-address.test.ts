import { describe, expect, it } from "vitest";
import { proposeFrom } from "../../src/setup/init-from.ts";

describe("an address that is given to init", () => {
  it("is not repeated with its secrets", async () => {
    const address = "https://reader:pw12345678@crm.example.com/api/customers?api_key=SECRETSECRET12";
    const options = { folder: "/tmp", zone: "UTC", signal: new AbortController().signal };
    const thrown = await proposeFrom([address], options).catch((error: unknown) => error);
    expect(String(thrown)).not.toContain("SECRETSECRET12");
    expect(String(thrown)).not.toContain("pw12345678");
  });
});

import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { sendOnce, type SendPermit } from "../../src/engine/send.ts";

/** A service that takes every call, and notes whether its permit was given back. */
function service(): { send: (permit: SendPermit) => Promise<string>; isBack: () => boolean } {
  let back = false;
  const send = async ({ beforeSending, recorded }: SendPermit): Promise<string> => {
    void recorded?.then(() => (back = true));
    await beforeSending?.();
    await turn();
    return "answered";
  };
  return { send, isBack: () => back };
}

it("a permit is kept until the outcome is in the hands of the writer, and not until it is committed", async () => {
  const { send, isBack } = service();
  const answered = Promise.withResolvers<void>();
  const committed = Promise.withResolvers<void>();
  let keptSoFar = false;
  const recording = sendOnce(
    () => Promise.resolve("op_1"),
    async (permit) => {
      const sent = await send(permit);
      await turn();
      keptSoFar = !isBack();
      answered.resolve();
      return sent;
    },
    async (id, sent) => {
      await committed.promise;
      return [id, sent];
    },
  );
  await answered.promise;
  await turn();
  expect([keptSoFar, isBack()]).toEqual([true, true]);
  committed.resolve();
  expect(await recording).toEqual(["op_1", "answered"]);
});

it("a permit is given back where the intent is refused, and where the outcome cannot be handed over", async () => {
  const refused = service();
  const intend = () => Promise.reject(new Error("the intent is refused"));
  const recorded: string[] = [];
  const record = async (): Promise<void> => void recorded.push("an outcome");
  await expect(sendOnce(intend, refused.send, record)).rejects.toThrow("the intent is refused");
  const broken = service();
  const fail = () => {
    throw new Error("the ledger is broken");
  };
  await expect(sendOnce(() => Promise.resolve("op_1"), broken.send, fail)).rejects.toThrow("the ledger is broken");
  expect([refused.isBack(), broken.isBack(), recorded]).toEqual([true, true, []]);
});

it("what got no permit has no intent", async () => {
  const noPermit = () => Promise.resolve("no permit");
  const record = (id: string | undefined, sent: string) => Promise.resolve([id, sent]);
  expect(await sendOnce(() => Promise.resolve("op_1"), noPermit, record)).toEqual([undefined, "no permit"]);
});

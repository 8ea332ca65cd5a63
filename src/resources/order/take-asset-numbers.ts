import { adds } from "../../engine/operation-line.ts";
import { z } from "zod";
import { limits } from "../../contract/limits.ts";
import { notSendable, plainKind, readBackByNothing } from "../../engine/kind.ts";
import type { Kind } from "../../engine/kind.ts";
import type { ShapesOf } from "../../engine/shape.ts";

const size = z.object({ size: z.int() });
const schemas = { target: z.object({}), payload: size, before: z.null(), after: z.null(), context: size };

function isAssetDigits(text: string): boolean {
  const { assetDigits, assetFirstDigits } = limits;
  return /^\d+$/u.test(text) && text.length === assetDigits && assetFirstDigits.some((digit) => text.startsWith(digit));
}

/** E9 takes numbers for the pool. Numbers whose answer was lost are spent. */
export const takeAssetNumbers: Kind<ShapesOf<typeof schemas>> = {
  ...plainKind,
  line: () => Promise.resolve(adds("take asset numbers for the pool")),
  schemas,
  endpoint: "E9",
  stages: ["orders"],
  rests: () => [{ row: "A25" }],
  metByOddData: (data) => {
    if (!Array.isArray(data) || data.length === 0 || !data.every((item) => typeof item === "string")) return [];
    const isOdd = data.some((digits) => !isAssetDigits(digits));
    const evidence = "E9 handed out something else than ten digits that begin with an expected one";
    return isOdd ? [{ row: "A25", evidence }] : [];
  },
  whenUnknown: "lost",
  cureOfPart: undefined,
  outdates: [],
  undone: { how: "impossible", why: "numbers that were handed out are never given back" },
  prepare({ wire }) {
    const request = size.safeParse(wire);
    if (!request.success) return notSendable(request.error.issues);
    return {
      context: request.data,
      send: async ({ orderService }, call) => {
        const outcome = await orderService.takeAssetNumbers(request.data.size, call);
        return {
          outcome,
          conclude: (operationId) => {
            if (outcome.kind !== "done") return { doubt: "no data" };
            const { data: numbers } = outcome;
            return {
              changes: [{ type: "numbers-taken", numbers, operationId }],
              audit: { count: numbers.length, first: numbers[0], last: numbers.at(-1) },
              refused: [],
            };
          },
        };
      },
    };
  },
  read: readBackByNothing,
  lost: (payload) => ({
    verdict: "the numbers are spent and lost",
    audit: { kind: "numbers-lost", body: { asked: payload.size } },
    message: "asset numbers lost",
  }),
  counted: (payload) => payload.size,
  countAsApplied: () => ({
    code: "settle.by-itself",
    why: "the answer with new asset numbers was lost, and those numbers are used up in both cases",
    cure: "nothing needs to be decided: the next run records the lost numbers and takes new ones",
  }),
  lookFor: () => undefined,
};

import type { Json } from "../../base/canonical-json.ts";
import { AnswerComplaint, complaintIn } from "./answer/complaint.ts";
import { readJson } from "./answer/json.ts";
import { requestPage, shownUrl } from "./request.ts";
import type { PageAnswer, PageRequest, RequestDeps } from "./request.ts";

/** Asks for one JSON document, which is no page of a list. Throws a Problem as `requestPage` does. */
export function askJson(
  request: PageRequest,
  deps: RequestDeps,
  signal: AbortSignal | undefined,
): Promise<{ document: Json; answer: PageAnswer }> {
  const named = { place: shownUrl(request.url), who: deps.who, known: deps.known };
  return requestPage(
    request,
    deps,
    (answer) => {
      const { document } = readJson(answer, Number.POSITIVE_INFINITY, named);
      const complaint = complaintIn(document, request.errors);
      if (complaint !== undefined) throw new AnswerComplaint(complaint);
      return { document, answer };
    },
    signal,
  );
}

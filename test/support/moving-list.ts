/** One record of a list that moves. */
export interface Listed {
  id: string;
  /** Set anew by an edit. */
  edited: number;
}

export type PageKind = "page" | "offset" | "cursor" | "nextLink" | "linkHeader" | "keyset";

export interface ListAnswer {
  body: unknown;
  headers?: Record<string, string>;
}

const size = 3;

/**
 * What a service answers whose pages are so many records of its list as it is at that moment. `written`: what stands
 * there for one of them.
 */
export function pageOf(
  kind: PageKind,
  list: readonly Listed[],
  query: Readonly<Record<string, string>>,
  origin: string,
  written: (one: Listed) => unknown = (one) => one,
): ListAnswer {
  const at = Number(query["offset"] ?? query["cursor"] ?? 0);
  const page = Number(query["page"] ?? 1);
  if (kind === "page") return { body: { items: list.slice((page - 1) * size, page * size).map(written) } };
  if (kind === "keyset") {
    const after = query["after"] ?? "";
    return {
      body: {
        items: list
          .filter(({ id }) => id > after)
          .slice(0, size)
          .map(written),
      },
    };
  }
  if (kind === "linkHeader") {
    const items = list.slice((page - 1) * size, page * size).map(written);
    const headers = { link: `<${origin}/list?page=${page + 1}>; rel="next"` };
    return { body: { items }, ...(page * size < list.length ? { headers } : {}) };
  }
  const items = list.slice(at, at + size).map(written);
  const more = at + items.length < list.length && items.length > 0;
  if (kind === "nextLink") return { body: { items, next: more ? `${origin}/list?offset=${at + size}` : null } };
  return { body: { items, next: more ? String(at + size) : null } };
}

/** How such a list is read. */
export const pagingOf: Record<PageKind, object> = {
  page: { kind: "page" },
  offset: { kind: "offset", sizeParameter: "size", size },
  cursor: { kind: "cursor", next: "next" },
  nextLink: { kind: "nextLink", next: "next" },
  linkHeader: { kind: "linkHeader" },
  keyset: { kind: "keyset", parameter: "after" },
};

export const pageSize = size;

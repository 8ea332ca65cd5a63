import type { Part } from "./shape.ts";

/** The cover sheet of closed books: whom their ids stand for. It is no part of them, so that a name can be erased. */
export const coverPart: Part = {
  name: "cover",
  title: "Cover sheet",
  about: "The customers that the books name by their ids, with the name that the ledger knows now, or `erased`.",
  columns: [
    { name: "customer", type: "text", title: "Customer", about: "Key of the customer." },
    { name: "name", type: "text", title: "Name", about: "Name of the customer; `erased` where it was erased." },
    { name: "branch", type: "text", title: "Branch", about: "Code of the branch that looks after the customer." },
  ],
};

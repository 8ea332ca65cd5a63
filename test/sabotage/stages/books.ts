import { books } from "../breaks/books.ts";
import { stage } from "../stage.ts";

stage(books);

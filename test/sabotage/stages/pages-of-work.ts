import { pagesOfWork } from "../breaks/pages-of-work.ts";
import { stage } from "../stage.ts";

stage(pagesOfWork);

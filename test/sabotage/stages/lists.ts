import { lists } from "../breaks/lists.ts";
import { stage } from "../stage.ts";

stage(lists);

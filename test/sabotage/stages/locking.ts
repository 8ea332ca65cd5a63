import { locking } from "../breaks/locking.ts";
import { stage } from "../stage.ts";

stage(locking);

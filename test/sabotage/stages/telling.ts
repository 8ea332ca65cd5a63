import { telling } from "../breaks/telling.ts";
import { stage } from "../stage.ts";

stage(telling);

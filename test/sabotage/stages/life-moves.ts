import { lifeMoves } from "../breaks/life-moves.ts";
import { stage } from "../stage.ts";

stage(lifeMoves);

import type { ServedStatus } from "#src/domain/vocabulary.ts";
import type { Fading } from "#web/widget/age.ts";
import { shownStatuses, signs } from "#web/widget/signs.ts";
import {
  type Badge,
  filled,
  noDataPx,
  ringGap,
  ringsPx,
  ringWidthPx,
  stationPx,
} from "#web/widget/looks.ts";
import { tokenOf } from "#web/widget/colours.ts";

/** A picture for the map, drawn twice as fine as it is shown. */
export interface Sprite {
  image: ImageData;
  pixelRatio: number;
}

const pixelRatio = 2;

/**
 * The picture that the layers ask for by name: `s:<theme>:<status>:<badge>:<fading>` a station, `c:<theme>:<size
 * class>:<share>.<share>…` a cluster with the shares of `shownStatuses`, `p:<theme>` the viewer. Null for any other.
 */
export function drawSprite(name: string): Sprite | null {
  const [kind, , what = "", more = "", faded = "0"] = name.split(":");
  if (kind === "s")
    return drawStation(what as ServedStatus, more as Badge, Number(faded) as Fading);
  if (kind === "c") return drawRing(Number(what), more.split(".").map(Number));
  return kind === "p" ? drawPosition() : null;
}

const drawPosition = (): Sprite =>
  draw(22, (pen) => {
    for (const [colour, radius] of [["--surface", 11] as const, ["--accent", 8] as const]) {
      pen.beginPath();
      pen.arc(11, 11, radius, 0, 2 * Math.PI);
      pen.fillStyle = tokenOf(colour);
      pen.fill();
    }
  });

function drawStation(status: ServedStatus, badge: Badge, fading: Fading): Sprite {
  const inner = status === "nodata" ? noDataPx : stationPx;
  const size = stationPx + 10;
  return draw(size, (pen) => {
    const { mark, colour } = signs[status];
    const outline = new Path2D(signs[status].outline);
    pen.save();
    const scale = inner / 24;
    pen.translate((size - inner) / 2, (size - inner) / 2);
    pen.scale(scale, scale);
    pen.lineJoin = "round";
    pen.lineCap = "round";
    pen.shadowColor = "rgb(0 0 0 / 0.35)";
    pen.shadowBlur = 3 * pixelRatio;
    pen.shadowOffsetY = pixelRatio;
    pen.strokeStyle = tokenOf("--surface");
    pen.lineWidth = 3;
    pen.stroke(outline);
    pen.shadowColor = "transparent";
    pen.fillStyle = tokenOf("--surface");
    pen.fill(outline);
    pen.fillStyle = tokenOf(colour);
    pen.globalAlpha = filled[fading];
    pen.fill(outline);
    pen.globalAlpha = 1;
    const empty = filled[fading] < 0.5;
    if (empty) {
      pen.strokeStyle = tokenOf(colour);
      pen.lineWidth = fading === 3 ? 1.2 : 2;
      pen.stroke(outline);
    }
    pen.strokeStyle = tokenOf(empty ? colour : "--on-status");
    pen.lineWidth = 2.4;
    pen.stroke(new Path2D(mark));
    pen.restore();
    // The badge lies on the rim: the sign of `nodata` is smaller.
    if (badge !== "") drawBadge(pen, size / 2 + inner * (status === "nodata" ? 0.33 : 0.4), badge);
  });
}

function drawBadge(pen: CanvasRenderingContext2D, x: number, badge: Badge): void {
  const [y, radius] = [stationPx + 10 - x, 7];
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fillStyle = badge === "conflict" ? tokenOf("--danger") : tokenOf("--accent");
  pen.fill();
  pen.strokeStyle = tokenOf("--surface");
  pen.lineWidth = 1.5;
  pen.stroke();
  pen.fillStyle = tokenOf("--accent-text");
  pen.font = "bold 11px system-ui, sans-serif";
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  pen.fillText(badge === "conflict" ? "!" : "?", x, y + 0.5);
}

function drawRing(sizeClass: number, shares: readonly number[]): Sprite {
  const size = ringsPx[sizeClass] ?? ringsPx[0];
  return draw(size + 8, (pen) => {
    const middle = (size + 8) / 2;
    const radius = size / 2 - ringWidthPx / 2;
    const whole = shares.reduce((sum, share) => sum + share, 0) || 1;
    pen.shadowColor = "rgb(0 0 0 / 0.3)";
    pen.shadowBlur = 4 * pixelRatio;
    pen.shadowOffsetY = pixelRatio;
    pen.fillStyle = tokenOf("--surface");
    pen.beginPath();
    pen.arc(middle, middle, size / 2 + 1, 0, 2 * Math.PI);
    pen.fill();
    pen.shadowColor = "transparent";
    pen.lineWidth = ringWidthPx;
    let from = -Math.PI / 2;
    shownStatuses.forEach((status, at) => {
      const share = shares[at] ?? 0;
      if (share === 0) return;
      const to = from + (share / whole) * 2 * Math.PI;
      pen.strokeStyle = tokenOf(signs[status].colour);
      pen.beginPath();
      const gap = share === whole ? 0 : ringGap;
      pen.arc(middle, middle, radius, from + gap, to - gap);
      pen.stroke();
      from = to;
    });
  });
}

function draw(size: number, paint: (pen: CanvasRenderingContext2D) => void): Sprite {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size * pixelRatio;
  const pen = canvas.getContext("2d", { willReadFrequently: true });
  if (pen === null) throw new Error("this browser gives no canvas to draw on");
  pen.scale(pixelRatio, pixelRatio);
  paint(pen);
  return { image: pen.getImageData(0, 0, canvas.width, canvas.height), pixelRatio };
}

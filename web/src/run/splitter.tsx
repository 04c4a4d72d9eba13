// The line between two panels: dragged, or moved by the arrow keys. What was chosen is kept by the browser.

import { type KeyboardEvent, type PointerEvent, useEffect, useState } from "react";

const BOUNDS = { least: 220, most: 900 };

/** Shares of the window, up to a width that is enough. */
const USUAL = { left: { share: 0.22, most: 420 }, right: { share: 0.34, most: 520 } } as const;

const usual = (name: "left" | "right"): number =>
  bounded(Math.min(USUAL[name].most, innerWidth * USUAL[name].share));

interface SplitterProps {
  readonly name: "left" | "right";
  readonly label: string;
}

export function Splitter({ name, label }: SplitterProps) {
  const [width, setWidth] = useState(() => kept(name));
  const [isChosen, setChosen] = useState(false);
  useEffect(() => {
    document.documentElement.style.setProperty(`--panel-${name}`, `${width}px`);
    if (isChosen) keep(name, width);
  }, [name, width, isChosen]);
  const sign = name === "left" ? 1 : -1;
  const move = (by: number) => {
    setChosen(true);
    setWidth((before) => bounded(before + by * sign));
  };
  const drag = (event: PointerEvent<HTMLDivElement>): void => {
    const target = event.currentTarget;
    const from = { x: event.clientX, width };
    target.setPointerCapture(event.pointerId);
    setChosen(true);
    const follow = (moved: globalThis.PointerEvent) =>
      setWidth(bounded(from.width + (moved.clientX - from.x) * sign));
    target.addEventListener("pointermove", follow);
    target.addEventListener("pointerup", () => target.removeEventListener("pointermove", follow), {
      once: true,
    });
  };
  const press = (event: KeyboardEvent): void => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    move(event.key === "ArrowLeft" ? -20 : 20);
  };
  return (
    <div
      className="splitter"
      role="separator"
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={BOUNDS.least}
      aria-valuemax={BOUNDS.most}
      tabIndex={0}
      onPointerDown={drag}
      onKeyDown={press}
    />
  );
}

const bounded = (width: number): number => Math.max(BOUNDS.least, Math.min(BOUNDS.most, Math.round(width)));

function kept(name: "left" | "right"): number {
  try {
    const value = Number(localStorage.getItem(`packloop-${name}`) ?? "");
    return value > 0 ? bounded(value) : usual(name);
  } catch {
    // A browser that keeps nothing begins with the usual width.
    return usual(name);
  }
}

function keep(name: "left" | "right", width: number): void {
  try {
    localStorage.setItem(`packloop-${name}`, String(width));
  } catch {
    // It holds for this page only.
  }
}

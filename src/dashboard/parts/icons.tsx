import type { ReactNode } from 'react'

/** Decorations: what they say stands in words beside them. */
function icon(shapes: ReactNode) {
  return (
    <svg
      className="icon"
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.7"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {shapes}
    </svg>
  )
}

export const icons = {
  overview: icon(<path d="M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 7h6V4h-6z" />),
  connections: icon(
    <>
      <path d="M9.5 14.5 14.5 9.5" />
      <path d="m11 6.5 1.7-1.7a4.6 4.6 0 0 1 6.5 6.5L17.5 13M13 17.5l-1.7 1.7a4.6 4.6 0 0 1-6.5-6.5L6.5 11" />
    </>,
  ),
  providers: icon(<path d="M4 5h7v6H4zM13 5h7v6h-7zM4 13h7v6H4zM16.500 13.500v5M14 16h5" />),
  agents: icon(
    <>
      <rect x="4.500" y="8" width="15" height="11" rx="2.500" />
      <path d="M12 8V4.500M9 13v1M15 13v1M2.500 12.500v3M21.500 12.500v3" />
    </>,
  ),
  audit: icon(<path d="M5 4h14v16H5zM8.500 8.500h7M8.500 12h7M8.500 15.500h4" />),
  settings: icon(
    <>
      <path d="M4 7h9M17 7h3M4 17h3M11 17h9" />
      <circle cx="15" cy="7" r="2" />
      <circle cx="9" cy="17" r="2" />
    </>,
  ),
  more: icon(<path strokeWidth="2.6" d="M5.500 12h.01M12 12h.01M18.500 12h.01" />),
  close: icon(<path d="m6 6 12 12M18 6 6 18" />),
  key: icon(
    <>
      <circle cx="8" cy="15" r="4" />
      <path d="m11 12 8-8M16 7l3 3" />
    </>,
  ),
  good: icon(<path d="m5 12.500 4.500 4.500L19 7.500" />),
  bad: icon(<path d="M12 4 2.500 20h19zM12 10v4.500M12 17.500v.01" />),
  plus: icon(<path d="M12 5v14M5 12h14" />),
} as const

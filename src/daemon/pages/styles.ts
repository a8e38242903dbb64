/** The one stylesheet of the small pages: system fonts, light and dark, from a phone's width up. */
export const STYLES = `:root {
  color-scheme: light dark;
  --ground: #f4f3ef;
  --card: #ffffff;
  --line: #dcdad2;
  --edge: #8b897f;
  --ink: #1d1f1c;
  --soft: #5d5f58;
  --accent: #1f6a4d;
  --accent-strong: #175239;
  --on-accent: #ffffff;
  --bad: #a32b21;
  --bad-ground: #fbeeec;
  --shadow: 0 1px 2px rgb(29 31 28 / 6%), 0 12px 32px -12px rgb(29 31 28 / 18%);
}

@media (prefers-color-scheme: dark) {
  :root {
    --ground: #141613;
    --card: #1d201c;
    --line: #333730;
    --edge: #7d8277;
    --ink: #ecede8;
    --soft: #a9ada2;
    --accent: #7fcfac;
    --accent-strong: #a0dfc3;
    --on-accent: #10231a;
    --bad: #f2a59c;
    --bad-ground: #3a211e;
    --shadow: none;
  }
}

* {
  box-sizing: border-box;
}

body {
  margin: 0;
  min-height: 100vh;
  min-height: 100dvh;
  display: grid;
  place-items: center;
  padding: 1.5rem 1rem;
  background: var(--ground);
  color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
  -webkit-text-size-adjust: 100%;
}

main {
  width: 100%;
  max-width: 27rem;
  padding: 2rem;
  border: 1px solid var(--line);
  border-radius: 1rem;
  background: var(--card);
  box-shadow: var(--shadow);
}

@media (max-width: 30rem) {
  main {
    padding: 1.5rem 1.25rem;
  }
}

.mark {
  display: block;
  width: 2.25rem;
  height: 2.25rem;
  margin: 0 0 1.25rem;
  color: var(--accent);
}

.mark.failure {
  color: var(--bad);
}

h1 {
  margin: 0 0 0.5rem;
  font-size: 1.375rem;
  line-height: 1.25;
  font-weight: 650;
  letter-spacing: -0.011em;
  text-wrap: balance;
  overflow-wrap: anywhere;
}

p {
  margin: 0 0 1rem;
  overflow-wrap: anywhere;
}

.soft {
  color: var(--soft);
}

.soft strong {
  color: var(--ink);
  font-weight: 600;
}

form {
  margin: 1.5rem 0 0;
}

.field {
  margin: 0 0 1.25rem;
}

label {
  display: block;
  margin: 0 0 0.375rem;
  font-weight: 600;
}

.optional {
  color: var(--soft);
  font-weight: 400;
}

.help,
.wrong {
  margin: 0.375rem 0 0;
  font-size: 0.875rem;
}

.help {
  color: var(--soft);
}

.wrong {
  color: var(--bad);
}

.wrong::first-letter {
  text-transform: uppercase;
}

input,
textarea {
  display: block;
  width: 100%;
  min-height: 2.75rem;
  padding: 0.5rem 0.75rem;
  border: 1px solid var(--edge);
  border-radius: 0.5rem;
  background: var(--ground);
  color: inherit;
  font: 1rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}

input[aria-invalid="true"] {
  border-color: var(--bad);
}

[readonly] {
  border-style: dashed;
  resize: none;
}

textarea {
  font-size: 0.8125rem;
  field-sizing: content;
  word-break: break-all;
}

.code {
  padding: 0.75rem 0.5rem;
  font-weight: 600;
  text-align: center;
}

input.code {
  font-size: 2rem;
  letter-spacing: 0.08em;
}

input.code.long {
  font-size: 1.375rem;
  letter-spacing: 0;
}

p.code {
  margin: 1.5rem 0 0;
  font: 600 1.75rem/1.4 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
  letter-spacing: 0.08em;
}

dl {
  display: grid;
  grid-template-columns: max-content 1fr;
  gap: 0.375rem 1rem;
  margin: 1.5rem 0 0;
}

dt {
  color: var(--soft);
}

dd {
  margin: 0;
  overflow-wrap: anywhere;
}

dd.key {
  font: 0.8125rem/1.6 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace;
}

button,
.button {
  display: block;
  width: 100%;
  min-height: 2.75rem;
  padding: 0.5rem 1rem;
  border: 0;
  border-radius: 0.5rem;
  background: var(--accent);
  color: var(--on-accent);
  font: inherit;
  font-weight: 600;
  cursor: pointer;
}

button:hover,
.button:hover {
  background: var(--accent-strong);
}

a {
  color: var(--accent);
  text-underline-offset: 0.15em;
}

a.button {
  padding: 0.625rem 1rem;
  color: var(--on-accent);
  text-align: center;
  text-decoration: none;
  overflow-wrap: anywhere;
}

:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}

.alert {
  margin: 1.25rem 0 0;
  padding: 0.75rem 1rem;
  border: 1px solid currentcolor;
  border-radius: 0.5rem;
  background: var(--bad-ground);
  color: var(--bad);
}

.caution {
  padding: 0 0 0 0.875rem;
  border-left: 3px solid var(--accent);
}

.unseen {
  position: absolute;
  width: 1px;
  height: 1px;
  margin: -1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

footer {
  margin: 1.5rem 0 0;
  padding: 1rem 0 0;
  border-top: 1px solid var(--line);
  color: var(--soft);
  font-size: 0.875rem;
}

footer p {
  margin: 0;
}
`

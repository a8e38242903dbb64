import { Octokit } from '@octokit/rest'

const octokit = new Octokit({ auth: process.env.GITHUB_TOKEN })
const { status } = await octokit.rest.users.getAuthenticated()
console.log('status', status)

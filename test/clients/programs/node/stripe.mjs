import Stripe from 'stripe'

const stripe = new Stripe(process.env.STRIPE_SECRET_KEY, { maxNetworkRetries: 0 })
const { lastResponse } = await stripe.balance.retrieve()
console.log('status', lastResponse.statusCode)

use strict;
use warnings;
use LWP::UserAgent;

$| = 1;
my $agent = LWP::UserAgent->new;
$agent->default_header(Authorization => "Bearer $ENV{OPENAI_API_KEY}");
my $plain = $agent->get('https://api.openai.com/v1/models');
print 'status ', $plain->code, ' ', $plain->message, "\n";
exit 1 unless $plain->is_success;
$agent->get('https://api.openai.com/v1/events', ':content_cb' => sub { print $_[0] });
